# SPDX-License-Identifier: BSD-3-Clause
"""A run's environment: variables for the library, and the command line that runs the program."""

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.base import jsons, paths
from convene.catalogue import selection
from convene.mpi import launchers, stacks, usages
from convene.run import folders

FABRIC_PROTOCOLS = ("tagged", "notified", "hybrid")  # the last one with a size, if one is given


class Arrivals(StrEnum):
    """What the library does about late ranks."""

    NONE = "none"
    AUTO = "auto"


class Learning(StrEnum):
    """Trials in the running program: values of CONVENE_LEARN."""

    FROM_ENVIRONMENT = ""
    NO = "no"
    YES = "yes"
    OBSERVE = "observe"
    REDUCTIONS = "reductions"

    def is_set(self) -> bool:
        return bool(self or os.environ.get("CONVENE_LEARN"))

    def is_on(self) -> bool:
        return (self or os.environ.get("CONVENE_LEARN") or Learning.NO) != Learning.NO


@dataclass(frozen=True)
class Settings:
    """Settings of the library, named like the options of the command. Empty: not given."""

    uses: str = ""
    rules: str = ""
    log: bool = False
    reproducible: bool = False
    arrivals: Arrivals = Arrivals.NONE
    progress_thread: bool = False
    progress_core: int | None = None
    warn_after: float | None = None  # seconds
    profile_directory: str = ""
    recording: str = ""
    wisdom: str = ""  # a path, or "none"
    learn: Learning = Learning.FROM_ENVIRONMENT
    transport: str = ""  # mpi, fabric, or fabric:PROVIDER[:PROTOCOL], see FABRIC_PROTOCOLS

    def variables(self) -> dict[str, str]:
        """CONVENE_* variables for the ranks. The command line has precedence over the environment."""
        found = {name: value for name, value in os.environ.items() if name.startswith("CONVENE_")}
        for name in (folders.FORMER_PROFILE_DIR, *launchers.RETURN_VARIABLES):
            found.pop(name, None)
        found |= {
            "CONVENE_USE": self.uses,
            "CONVENE_RULES": self.rules,
            "CONVENE_PROFILE_DIR": self.profile_directory,
            "CONVENE_RECORD": self.recording,
        }
        if self.wisdom:
            found["CONVENE_WISDOM"] = self.wisdom
        if self.learn:
            found["CONVENE_LEARN"] = self.learn.value
        if self.transport:
            found["CONVENE_TRANSPORT"] = self.transport
        if self.log:
            found["CONVENE_LOG"] = "info"
        if self.reproducible:
            found["CONVENE_REPRODUCIBLE"] = "yes"
        if self.arrivals is not Arrivals.NONE:
            found["CONVENE_ARRIVALS"] = self.arrivals.value
        if self.progress_thread or self.progress_core is not None:
            found["CONVENE_PROGRESS_THREAD"] = "1"
        if self.progress_core is not None:
            found["CONVENE_PROGRESS_CORE"] = str(self.progress_core)
        if self.warn_after is not None:
            found["CONVENE_WAIT_WARNING"] = f"{self.warn_after:.9f}"
        return {name: value for name, value in found.items() if value}


def check_uses(given: list[str]) -> str:
    """The forced algorithms in canonical form; by default those of the environment."""
    for each in given:
        selection.check_use(each)
    text = ",".join(given) if given else os.environ.get("CONVENE_USE", "")
    return ",".join(f"{collective}={spec}" for collective, spec in _core.uses(text))


def check_rules(given: Path | None) -> str:
    """The rules file; empty without one. A path behind a hyphen may be absent."""
    path = str(given) if given else os.environ.get("CONVENE_RULES", "")
    if path.startswith("-"):
        path = path[1:] if Path(path[1:]).exists() else ""
    if not path:
        return ""
    if Path(path).is_fifo():
        raise RequestError(f"the rules file {path} is a pipe, but every rank reads it; write it to a file")
    _core.rules(path)
    return str(Path(path).resolve())


def check_transport(given: str | None) -> str:
    name, *rest = ("mpi" if given is None else given).split(":", 3)
    protocol = rest[1] if len(rest) > 1 else "tagged"
    is_complete = not rest or (name == "fabric" and (rest[0] or len(rest) > 1))
    has_size = len(rest) > 2
    is_known = protocol in FABRIC_PROTOCOLS and (protocol == "hybrid" or not has_size)
    if name not in ("mpi", "fabric") or not is_complete or not is_known:
        raise RequestError(
            f"invalid --transport '{given}'; give mpi, fabric or fabric:PROVIDER, as in fabric:tcp, or "
            "fabric:PROVIDER:PROTOCOL, where PROTOCOL is tagged (default), notified (puts with "
            "notification), hybrid (tagged up to 64 KiB, then puts) or hybrid:SIZE"
        )
    if has_size:
        _core.size(rest[2])
    return given or ""


def check_wisdom(given: str | None, *, may_be_new: bool = False, if_absent: str = "") -> str:
    """The absolute path of a readable wisdom file; "none" is returned unchanged. A file that learning writes
    may not exist yet. `if_absent`: what to try."""
    if given is None or given == "none":
        return given or ""
    if not given:
        raise RequestError("--wisdom is empty; give a file, or none, or leave it out")
    if given.startswith("-") and not Path(given[1:]).exists():
        return given  # optional, and absent
    path = Path(given.removeprefix("-"))
    if may_be_new and not path.exists() and path.parent.is_dir():
        return str(path.resolve())
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = if_absent if isinstance(error, FileNotFoundError) else "; name another file"
        why = jsons.why_unreadable(error)
        raise RequestError(f"cannot read --wisdom {path}: {why}{hint}") from None
    _core.wisdom(text, str(path))
    return str(path.resolve())


@dataclass(frozen=True)
class Prepared:
    """A program that is ready to be run with the library."""

    stack: str
    command: list[str]
    environment: dict[str, str]


def prepare(command: list[str], stack: str | None, variables: dict[str, str]) -> Prepared:
    stacks.check_stack(stack)
    environment = {**os.environ, **variables}
    if launchers.is_launcher(command[0]):
        launcher = launchers.find_launcher(command[0], stack)
        chosen = usages.choose_stack(launcher, launchers.programs_of(command[1:], launcher.values), stack)
        library = paths.preload_library(chosen)
        return Prepared(chosen, launchers.for_ranks(launcher, command[1:], library, variables), environment)
    launchers.require_program(command[0])
    chosen = usages.choose_stack(None, [command], stack)
    environment["LD_PRELOAD"] = launchers.preload_value(paths.preload_library(chosen))
    return Prepared(chosen, command, environment)
