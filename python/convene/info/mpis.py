# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs of this machine: launchers, and matching libraries of Convene."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from convene._core import RequestError
from convene.base import paths
from convene.mpi import launchers, stacks, usages
from convene.mpi.launchers import Launcher


@dataclass(frozen=True)
class FoundMpi:
    launcher: str
    family: str
    version: str
    libraries: list[str]  # stacks whose drop-in library is built
    threads: str  # highest level of thread support; "" where the MPI does not say it without a run


def version_of(launcher: Launcher) -> str:
    """The first version number in the output of --version."""
    words = launchers.output_of([str(launcher.path), "--version"]).split()
    numbers = [word.strip("(),v") for word in words if word.strip("(),v")[:1].isdigit() and "." in word]
    return numbers[0] if numbers else "?"


def threads_of(launcher: Launcher) -> str:
    """As ompi_info has it, beside the launcher. MPICH and Intel MPI have no such program."""
    tool = launcher.path.with_name("ompi_info")
    if launcher.family != "Open MPI" or not tool.exists():
        return ""
    text = launchers.output_of([str(tool), "-c"])
    return "multiple" if "MPI_THREAD_MULTIPLE: yes" in text else "serialized" if text else ""


def is_built(stack: str, kind: str = "libconvene-preload-{}.so") -> bool:
    return paths.find(kind.format(stack), paths.LIBRARIES) is not None


def launcher_named(name: str) -> Launcher | None:
    try:
        return launchers.find_launcher(name, None)
    except RequestError:
        return None


def find() -> list[FoundMpi]:
    """Each launcher once, the usual names first."""
    names = [name for known in stacks.LAUNCHERS.values() for name in known]
    names += [name for name, _ in stacks.MPIS]
    places: dict[Path, str] = {}
    for name in names:
        if path := launchers.find_program(name):
            places.setdefault(path.resolve(), name)
    with ThreadPoolExecutor() as pool:  # programs print their versions
        found = [launcher for launcher in pool.map(launcher_named, places.values()) if launcher]
        return list(pool.map(describe, found))


def describe(launcher: Launcher) -> FoundMpi:
    fitting = [stack for stack in stacks.FAMILIES[launcher.family] if is_built(stack)]
    return FoundMpi(str(launcher.path), launcher.family, version_of(launcher), fitting, threads_of(launcher))


@dataclass(frozen=True)
class ProgramFacts:
    """The MPI of a program."""

    program: str
    interface: str
    library: str  # of the MPI, as the program names it
    preload: str  # Convene's


def inspect(program: str) -> ProgramFacts:
    launchers.require_program(program)
    usage = usages.usage_of([program], None)
    if usage is None:
        raise RequestError(f"cannot detect the MPI of {program}; give an executable that is linked to an MPI")
    preload = paths.find(f"libconvene-preload-{usage.stack}.so", paths.LIBRARIES)
    return ProgramFacts(
        program, stacks.INTERFACES[usage.stack], usage.library, str(preload) if preload else "not built"
    )
