# SPDX-License-Identifier: BSD-3-Clause
"""The MPI stacks of this machine: how a program is built for each, and run with the drop-in library."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("CONVENE_BUILD", ROOT / "build"))
STACKS = Path(os.environ.get("CONVENE_STACKS_DIR", ROOT / ".stacks"))
COMPONENTS = BUILD / "lib" / "openmpi"  # of Open MPI

# Launchers refuse to start as root, or more ranks than cores, unless received; idle ranks must give way.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
    "CONVENE_WISDOM": "none",  # what was measured on this machine must not decide tests
}

# Reasons of what runs where nothing else could: native, or persistent calls on an MPI that has none.
NO_CHOICE = ("intercommunicator", "the MPI has none")


@dataclass(frozen=True)
class Done:
    """A program that has ended."""

    status: int
    output: str
    profiles: list[dict[str, Any]] = field(default_factory=list)
    no_choice: tuple[str, ...] = NO_CHOICE

    def problem(self) -> str:
        """What went wrong with a program that says "all right" at its end; nothing if it did."""
        if self.status == 0 and "all right" in self.output:
            return ""
        return self.output or f"status {self.status}"

    def records(self) -> list[dict[str, Any]]:
        """All records of all ranks."""
        return [
            record
            for profile in self.profiles
            for communicator in profile["communicators"]
            for record in communicator["records"]
        ]

    def algorithms(self, collective: str) -> set[str]:
        """Which algorithms ran a collective, where Convene had the choice."""
        return {
            record["algorithm"]
            for record in self.records()
            if record["collective"] == collective and record["reason"] not in self.no_choice
        }


@dataclass(frozen=True)
class Stack:
    name: str
    library: str  # which of Convene's libraries fits
    launcher: str
    wrapper: str  # the compiler wrapper
    folder: str  # of the programs, in build/tests
    fortran: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    spins: bool = False  # idle ranks don't give way: more ranks than cores are slow
    component: bool = False  # Convene is found by the MPI as its component, instead of preloaded

    @property
    def is_hydra(self) -> bool:
        return self.library != "openmpi"

    @property
    def is_known_to_cmake(self) -> bool:
        """Whether CMake builds its test programs."""
        return self.folder == self.library

    @property
    def no_choice(self) -> tuple[str, ...]:
        """The component does not prepare the communicators that a program makes."""
        return (*NO_CHOICE, "no internal communicator yet") if self.component else NO_CHOICE

    @property
    def preload(self) -> Path:
        return BUILD / "lib" / f"libconvene-preload-{self.library}.so"

    def is_here(self) -> bool:
        library = COMPONENTS / "mca_coll_convene.so" if self.component else self.preload
        return bool(shutil.which(self.launcher)) and library.is_file()

    def command(
        self, procs: int, program: Sequence[str | Path], preload: Path | None, names: Sequence[str]
    ) -> list[str]:
        """The launcher's command line. The library is for the ranks, not for the launcher."""
        if self.is_hydra:
            given = ["-genv", "LD_PRELOAD", str(preload)] if preload else []
        else:
            given = ["-x", f"LD_PRELOAD={preload}"] if preload else []
            given += [word for name in names for word in ("-x", name)]
        return [self.launcher, "-n", str(procs), *given, *map(str, program)]

    def run(
        self,
        procs: int,
        program: Sequence[str | Path],
        variables: Mapping[str, str] | None = None,
        *,
        preload: Path | bool = True,
        timeout: float = 300,
    ) -> Done:
        """Runs a program to its end; with profiles, where the library is in it. A run that
        hangs has status 124; `timeout`: seconds on a quiet machine."""
        if preload is True:
            preload = not self.component
        library = (self.preload if preload else None) if isinstance(preload, bool) else preload
        with tempfile.TemporaryDirectory(prefix="convene-test-") as directory:
            own = {**self.variables, **(variables or {})}
            if library or self.component:
                own.setdefault("CONVENE_PROFILE_DIR", directory)
            command = self.command(procs, program, library, sorted(own))
            status, output = run_with_timeout(command, {**ENVIRONMENT, **os.environ, **own}, timeout)
            profiles = read_profiles(Path(own.get("CONVENE_PROFILE_DIR", directory)))
            return Done(status, output, profiles, self.no_choice)

    def program(self, name: str) -> Path:
        """A test program, built for this stack: by CMake for the stacks that it knows, else here."""
        built = BUILD / "tests" / self.folder / name
        if self.is_known_to_cmake:
            return built
        source = next((ROOT / "tests" / "mpi").glob(f"{name}.c*"))
        newest = max(path.stat().st_mtime for path in (ROOT / "tests" / "mpi").iterdir())
        if not built.exists() or built.stat().st_mtime < newest:
            self.compile(source, built)
        return built

    def compile(self, source: Path, target: Path, *options: str) -> None:
        """With the plain compiler and the wrapper's flags: wrappers for C++ bring libraries of their own."""
        shown = subprocess.run([self.wrapper, "-show"], check=True, capture_output=True, text=True).stdout
        flags = [
            word for word in shown.split() if word.startswith(("-I", "-D", "-L", "-l", "-Wl", "-pthread"))
        ]
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.{os.getpid()}")
        own = ["-O1", "-g", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-pthread"]
        language = ["gcc", "-std=c11"] if source.suffix == ".c" else ["g++", "-std=c++20"]
        subprocess.run([*language, *own, source, "-o", part, *options, *flags], check=True)
        part.rename(target)


def patience(timeout: float) -> float:
    """Seconds until a run counts as one that hangs. A busy machine needs several times as long as a quiet
    one; pytest's own limit of 600 seconds must not be reached."""
    return max(timeout, min(4 * timeout, 540))


def run_with_timeout(
    command: Sequence[str], environment: Mapping[str, str], timeout: float
) -> tuple[int, str]:
    """Status and output; `timeout`: seconds on a quiet machine. Launchers end their ranks when they are asked
    to end."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(patience(timeout))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            status = 124
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return status, output.read()


def read_profiles(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(directory.glob("profile-*.json"))]


def _stack(
    name: str, library: str, folder: str, launcher: str | Path, wrapper: str | Path, **more: Any
) -> Stack:
    return Stack(name, library, str(launcher), str(wrapper), folder, **more)


@cache
def all_stacks() -> dict[str, Stack]:
    """All that Convene knows of, whether they are here or not."""
    openmpi5, mpich5, impi = (STACKS / name / "bin" for name in ("openmpi5", "mpich5", "impi"))
    stacks = [
        _stack(
            "openmpi4", "openmpi", "openmpi", "mpirun.openmpi", "mpicc.openmpi", fortran="mpifort.openmpi"
        ),
        _stack("openmpi5", "openmpi", "openmpi5", openmpi5 / "mpirun", openmpi5 / "mpicc"),
        _stack(
            "mpich4", "mpich", "mpich", "mpiexec.mpich", "mpicc.mpich", fortran="mpifort.mpich", spins=True
        ),
        _stack("mpich5", "mpich", "mpich5", mpich5 / "mpiexec", mpich5 / "mpicc"),
        _stack("mpich5-abi", "abi", "abi", mpich5 / "mpiexec", mpich5 / "mpicc_abi"),
        _stack(
            "impi",
            "abi",
            "abi",
            impi / "mpiexec.hydra",
            mpich5 / "mpicc_abi",
            # What was linked with MPICH's standard-ABI library finds Intel's instead.
            variables={"LD_LIBRARY_PATH": str(STACKS / "impi" / "lib"), "I_MPI_FABRICS": "shm"},
        ),
    ]
    return {stack.name: stack for stack in stacks}


def through_component() -> Stack:
    """Open MPI 4 with Convene as its component."""
    path = {"OMPI_MCA_mca_base_component_path": f"{COMPONENTS}:SYSTEM_DEFAULT"}
    return replace(all_stacks()["openmpi4"], variables=path, component=True)
