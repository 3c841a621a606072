# SPDX-License-Identifier: BSD-3-Clause
"""MPI usage of programs: which stack a program uses, and which library fits it and its launcher."""

from dataclasses import dataclass
from pathlib import Path

from convene._core import RequestError
from convene.mpi import launchers
from convene.mpi.launchers import Launcher
from convene.mpi.stacks import FAMILIES, GIVE_STACK, INTERFACES, SLURM, stack_in

# Which libmpi a Python program will use: mpi4py finds that out when it is imported.
PYTHON_PROBE = """
try:
    import mpi4py
    mpi4py.rc(initialize=False, finalize=False)
    from mpi4py import MPI
except Exception:
    raise SystemExit
with open('/proc/self/maps') as maps:
    print(*{line.rsplit('/', 1)[-1].strip() for line in maps if '/libmpi' in line})
"""


@dataclass(frozen=True)
class Usage:
    """The stack of a program, and the library name that identifies it."""

    program: str
    stack: str
    library: str
    is_python: bool


def interpreter_of(program: Path) -> list[str]:
    """The words behind a script's #!; nothing for other files."""
    try:
        with program.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return []
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    return words[1:] if words and Path(words[0]).name == "env" else words


def python_of(program: Path) -> str | None:
    """The Python that runs a program, if one does."""
    python = (interpreter_of(program) or [str(program)])[0]
    return python if Path(python).name.startswith(("python", "pypy")) else None


def usage_of(command: list[str], launcher: Launcher | None) -> Usage | None:
    """The stack of a program, if it can be detected."""
    path = launchers.find_program(command[0])
    if path is None:
        return None
    python = python_of(path)
    if python:
        found = stack_of_python(python, launcher)
    else:
        found = None if interpreter_of(path) else stack_in(launchers.output_of(["ldd", str(path)]))
    return Usage(command[0], *found, is_python=python is not None) if found else None


def stack_of_python(python: str, launcher: Launcher | None) -> tuple[str, str] | None:
    probe = [python, "-c", PYTHON_PROBE]
    found = stack_in(launchers.output_of(probe))
    if found and launcher and found[0] not in FAMILIES[launcher.family]:
        # The launcher may set the library path of its ranks; repeat the query under it.
        found = stack_in(launchers.output_of([str(launcher.path), "-n", "1", *probe]))
    return found


def choose_stack(launcher: Launcher | None, programs: list[list[str]], wanted: str | None) -> str:
    """The drop-in library's stack. Raises RequestError where launcher, program and wish don't go together."""
    usages = [usage for program in programs if (usage := usage_of(program, launcher))]
    if launcher:
        check_family(launcher, usages, wanted)
    stacks = list(dict.fromkeys(usage.stack for usage in usages))
    if wanted is not None:
        return wanted
    if len(stacks) > 1:
        names = " and ".join(f"{usage.program} uses {usage.library}" for usage in usages)
        raise RequestError(f"the programs use different MPIs: {names}; build them with the same one")
    if stacks:
        return stacks[0]
    if launcher and launcher.family != SLURM:
        return FAMILIES[launcher.family][0]
    name = programs[0][0] if programs else "the program"
    raise RequestError(f"cannot detect the MPI of '{name}'; {GIVE_STACK}")


def check_family(launcher: Launcher, usages: list[Usage], wanted: str | None) -> None:
    served = FAMILIES[launcher.family]
    for usage in usages:
        if usage.stack not in served:
            raise RequestError(
                f"{usage.program} uses {INTERFACES[usage.stack]} ({usage.library}), but {launcher.path} "
                f"belongs to {launcher.family}; start it with the launcher of its own MPI"
                + (", or set MPI4PY_LIBMPI" if usage.is_python else "")
            )
    if wanted is not None and wanted not in served:
        raise RequestError(
            f"--stack {wanted} does not match {launcher.path}, which belongs to {launcher.family}; give "
            "--stack " + " or --stack ".join(served)
        )
