# SPDX-License-Identifier: BSD-3-Clause
"""A run's environment: variables for the library, and the command line that runs the program."""

import os
from enum import StrEnum
from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.base import paths
from convene.mpi import launchers, stacks, usages


class Arrivals(StrEnum):
    """What is done about ranks that come late."""

    NONE = "none"
    AUTO = "auto"


def collect_environment(
    uses: str,
    rules: str,
    log: bool,
    reproducible: bool,
    directory: str,
    recording: str = "",
    progress_thread: bool = False,
    progress_core: int | None = None,
    arrivals: Arrivals = Arrivals.NONE,
) -> dict[str, str]:
    """What the library is to know. What the user has set and the command line does not say stays as it is."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("CONVENE_")}
    variables |= {"CONVENE_USE": uses, "CONVENE_RULES": rules, "CONVENE_ACCOUNT_DIR": directory}
    variables["CONVENE_RECORD"] = recording
    if log:
        variables["CONVENE_LOG"] = "info"
    if reproducible:
        variables["CONVENE_REPRODUCIBLE"] = "yes"
    if arrivals is not Arrivals.NONE:
        variables["CONVENE_ARRIVALS"] = arrivals.value
    if progress_thread or progress_core is not None:
        variables["CONVENE_PROGRESS_THREAD"] = "1"
    if progress_core is not None:
        variables["CONVENE_PROGRESS_CORE"] = str(progress_core)
    return {name: value for name, value in variables.items() if value}


def check_uses(given: list[str]) -> str:
    """The choices in their proper form; those of the environment where the command line has none."""
    text = ",".join(given) if given else os.environ.get("CONVENE_USE", "")
    return ",".join(f"{collective}={spec}" for collective, spec in _core.uses(text))


def check_rules(given: Path | None) -> str:
    path = str(given) if given else os.environ.get("CONVENE_RULES", "")
    if not path:
        return ""
    if Path(path).is_fifo():
        raise RequestError(
            f"the rules file {path} is a pipe, but every rank has to read it; write it to a file"
        )
    _core.rules(path)
    return str(Path(path).resolve())


def prepare(
    command: list[str], stack: str | None, variables: dict[str, str]
) -> tuple[str, list[str], dict[str, str]]:
    """The stack, the command line that runs the program with the library, and the environment for it."""
    stacks.check_stack(stack)
    environment = {**os.environ, **variables}
    if launchers.is_launcher(command[0]):
        launcher = launchers.find_launcher(command[0], stack)
        chosen = usages.choose_stack(launcher, launchers.programs_of(command[1:], launcher.values), stack)
        library = paths.preload_library(chosen)
        return chosen, launchers.for_ranks(launcher, command[1:], library, variables), environment
    if launchers.find_program(command[0]) is None:
        raise RequestError(f"the program '{command[0]}' cannot be found")
    chosen = usages.choose_stack(None, [command], stack)
    environment["LD_PRELOAD"] = launchers.preload_value(paths.preload_library(chosen))
    return chosen, command, environment
