# SPDX-License-Identifier: BSD-3-Clause
"""Libraries and programs of another commit, built beside those of this one."""

import re
import subprocess
from pathlib import Path

from convene import _core

from benchmarks import common

# What both builds have in common, of this build's cache.
SHARED: tuple[str, ...] = (
    "CMAKE_C_COMPILER",
    "CMAKE_CXX_COMPILER",
    "CMAKE_C_COMPILER_LAUNCHER",
    "CMAKE_CXX_COMPILER_LAUNCHER",
)
SHARED += ("CMAKE_BUILD_TYPE", "CMAKE_C_FLAGS_RELEASE", "CMAKE_CXX_FLAGS_RELEASE", "CONVENE_STACKS_DIR")
SHARED += ("CONVENE_MPICC_openmpi", "CONVENE_MPICC_mpich", "CONVENE_MPICC_abi")


def commit_of(name: str) -> str:
    """The whole name of a commit. RequestError: there is none."""
    done = subprocess.run(
        ["git", "-C", common.ROOT, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise _core.RequestError(
            f"there is no commit '{name}' in {common.ROOT}; name one that `git log` lists"
        )
    return done.stdout.strip()


def settings_of(cache: Path) -> list[str]:
    """-D options that repeat this build's compiler, flags and stacks."""
    found = dict(re.findall(r"^(\w+):\w+=(.+)$", cache.read_text(), re.MULTILINE))
    return [f"-D{name}={found[name]}" for name in SHARED if name in found]


def build(commit: str, targets: list[str], jobs: int) -> Path:
    """Builds targets of a commit in build/baseline (a worktree and its build); returns the build's folder."""
    home = common.ROOT / "build" / "baseline" / commit[:12]
    source, folder = home / "source", home / "build"
    if not source.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "-C", common.ROOT, "worktree", "prune"], check=True)
        subprocess.run(
            ["git", "-C", common.ROOT, "worktree", "add", "--quiet", "--detach", source, commit], check=True
        )
    log = home / "build.log"
    configure = ["cmake", "-S", str(source), "-B", str(folder), "-G", "Ninja", "-DCONVENE_PYTHON=OFF"]
    configure += settings_of(common.ROOT / "build" / "CMakeCache.txt")
    with log.open("w") as output:
        for command in (configure, ["ninja", "-C", str(folder), f"-j{jobs}", *targets]):
            if subprocess.run(command, stdout=output, stderr=output, check=False).returncode:
                raise RuntimeError(f"commit {commit[:12]} does not build here; {log} says why")
    return folder
