# SPDX-License-Identifier: BSD-3-Clause
"""Debian 12 without compilers, in a directory: debootstrap makes it once; tests see it through an overlay."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# mpi4py is for a program that nothing has to compile.
PACKAGES = ("python3", "python3-venv", "openmpi-bin", "mpich", "python3-mpi4py")
PROGRAM = """
from mpi4py import MPI

world = MPI.COMM_WORLD
print("ranks", world.allgather(world.rank), MPI.get_vendor()[0])
"""
# Launchers refuse to start as root, and more ranks than cores.
VARIABLES = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def missing() -> str:
    """Why there can be no such root here; empty if there can."""
    if shutil.which("debootstrap") is None:
        return "debootstrap is not installed"
    return "" if os.geteuid() == 0 else "a root directory of its own needs root"


def made(folder: Path) -> Path:
    """The root, made if it is not there. Some minutes, and 500 MB."""
    mark = folder.with_suffix(".packages")
    if not mark.is_file() or mark.read_text() != ",".join(PACKAGES):
        shutil.rmtree(folder, ignore_errors=True)
        command = [
            "debootstrap",
            "--variant=minbase",
            f"--include={','.join(PACKAGES)}",
            "bookworm",
            str(folder),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        mark.write_text(",".join(PACKAGES))
    return folder


@dataclass(frozen=True)
class Root:
    folder: Path

    @property
    def home(self) -> str:
        """The home of root within."""
        users = (self.folder / "etc" / "passwd").read_text().splitlines()
        return next(user.split(":")[5] for user in users if user.startswith("root:"))

    def run(self, *command: object, status: int = 0, **variables: str) -> str:
        """Output of a command within."""
        done = subprocess.run(
            ["chroot", str(self.folder), *map(str, command)],
            env={**VARIABLES, "HOME": self.home, **variables},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == status, f"{command}:\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@contextmanager
def opened(base: Path, place: Path) -> Iterator[Root]:
    """The root as it was made. What is written goes to `place`."""
    for name in ("upper", "work", "root"):
        (place / name).mkdir()
    root = place / "root"
    layers = f"lowerdir={base},upperdir={place / 'upper'},workdir={place / 'work'}"
    mounts = [
        ["-t", "overlay", "overlay", "-o", layers, str(root)],
        ["-t", "proc", "proc", str(root / "proc")],
        ["--rbind", "--make-rslave", "/dev", str(root / "dev")],
        ["-t", "tmpfs", "tmpfs", str(root / "dev" / "shm")],
    ]
    done = []
    try:
        for words in mounts:
            subprocess.run(["mount", *words], check=True)
            done.append(words)
        yield Root(root)
    finally:
        if done:
            subprocess.run(["umount", "--recursive", "--lazy", str(root)], check=True)
