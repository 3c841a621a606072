# SPDX-License-Identifier: BSD-3-Clause
"""Launch settings: a launcher with its options, and a program built for its MPI."""

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from convene._core import RequestError
from convene.base import paths
from convene.mpi import launchers, stacks
from convene.mpi.launchers import Launcher

# Launchers need options to start as root or with more ranks than cores; idle ranks must then yield.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

OVERSUBSCRIBED = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
}

# Before version 5 this must be set at start. It has no effect until an algorithm is selected.
SELECTABLE = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}


@dataclass(frozen=True)
class Setting:
    """Where it is measured: a launcher with its options, and the program built for its MPI."""

    launcher: Launcher
    options: list[str]
    stack: str
    program: Path
    variables: dict[str, str] = field(default_factory=dict)  # for the ranks, in addition to those of the MPI
    preload: Path | None = None
    as_it_is: bool = False  # in the user's environment, without variables for root or for few cores


def program_of(stack: str, tool: str = "bench") -> Path:
    name = f"convene-{tool}-{stack}"
    found = paths.find(name, paths.PROGRAMS)
    if found is None:
        places = " or ".join(str(place) for place in paths.PROGRAMS)
        raise RequestError(
            f"{name} not found in {places}; install this MPI's compiler wrapper (mpicc) and build Convene "
            "again"
        )
    return found


def find_setting(command: str | None, stack: str | None, tool: str = "bench") -> Setting:
    """The launcher that was named (with options, if need be), or the first one of the stack."""
    stacks.check_stack(stack)
    if command is None:
        launcher, options = usual_launcher(stack), list[str]()
    else:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise RequestError(f"invalid --launcher '{command}': {error}") from None
        if not words:
            raise RequestError("--launcher is empty; give a launcher, such as mpirun")
        launcher, options = launchers.find_launcher(words[0], stack), words[1:]
    served = stacks.FAMILIES[launcher.family]
    if stack is None and launcher.family == stacks.SLURM:
        raise RequestError(f"{launcher.path} starts programs of every MPI; {stacks.GIVE_STACK}")
    if stack is not None and stack not in served:
        raise RequestError(
            f"--stack {stack} does not match {launcher.path}, which belongs to {launcher.family}; give "
            "--stack " + " or --stack ".join(served)
        )
    chosen = stack or served[0]
    return Setting(launcher, options, chosen, program_of(chosen, tool))


def usual_launcher(stack: str | None) -> Launcher:
    names = (
        stacks.LAUNCHERS[stack]
        if stack
        else ("mpirun", "mpiexec", *stacks.LAUNCHERS["openmpi"], *stacks.LAUNCHERS["abi"])
    )
    for name in names:
        if launchers.find_program(name) is None:
            continue
        launcher = launchers.find_launcher(name, stack)
        if stack is None or stack in stacks.FAMILIES[launcher.family]:
            return launcher
    raise RequestError(
        f"no launcher of {stacks.INTERFACES[stack] if stack else 'any MPI'} found; install an MPI (apt "
        "install openmpi-bin, or pip install mpich), or give one with --launcher"
    )


def mpi_variables(launcher: Launcher, procs: int, *, as_it_is: bool = False) -> dict[str, str]:
    """Environment variables that the MPI needs for this number of ranks. Variables of the user are kept.
    `as_it_is`: only what finds the MPI's library."""
    variables = dict(AS_ROOT) if os.geteuid() == 0 and not as_it_is else {}
    if (
        not as_it_is and procs > (os.cpu_count() or 1) and launcher.family != stacks.SLURM
    ):  # which gives each rank a core
        variables |= OVERSUBSCRIBED
    if not as_it_is and launcher.family in ("Open MPI", stacks.SLURM):
        variables |= SELECTABLE
    wanted = {name: os.environ.get(name, value) for name, value in variables.items()}
    own = launcher.path.parent.parent / "lib"
    if any(own.glob("libmpi*.so*")):
        # The program may have been built with another version of this MPI.
        folders = [str(own)]
        if (own / "libmpi.so.12").exists() and not (own / "libmpich.so.12").exists():
            folders += [str(folder / "mpich") for folder in paths.LIBRARIES if (folder / "mpich").is_dir()]
        folders += filter(None, [os.environ.get("LD_LIBRARY_PATH", "")])
        wanted["LD_LIBRARY_PATH"] = ":".join(folders)
    return wanted


def command_line(setting: Setting, procs: int, arguments: list[str], variables: dict[str, str]) -> list[str]:
    ranks = [*setting.options, "-n", str(procs), str(setting.program), *arguments]
    if setting.preload:
        return launchers.for_ranks(setting.launcher, ranks, setting.preload, variables)
    if setting.launcher.family == "Open MPI":
        # Other nodes don't have this environment.
        return [str(setting.launcher.path), *(word for name in variables for word in ("-x", name)), *ranks]
    return [str(setting.launcher.path), *ranks]
