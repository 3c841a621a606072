# SPDX-License-Identifier: BSD-3-Clause
"""Schedules from files: what `convene show --format json` writes, or a schedule of the user's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.base import jsons
from convene.base.core_types import GivenCall


@dataclass(frozen=True)
class ScheduleFile:
    """A schedule's text, and the file that it is in."""

    text: str
    file: str

    @cached_property
    def parsed(self) -> _core.GivenPlan:
        """The schedule as simulations and models take it, read and checked once."""
        return _core.GivenPlan(self.text, self.file)

    @cached_property
    def call(self) -> GivenCall:
        return self.parsed.facts()


def load(path: Path) -> ScheduleFile:
    """The schedule in a file, correct or not."""
    found = ScheduleFile(jsons.read_text(path), str(path))
    _ = found.call  # refuses a wrong one at once
    return found


def load_correct(paths: Iterable[Path] | None, collective: str) -> list[ScheduleFile]:
    """Schedules of one collective; refuses those that do not perform it."""
    found = [load(path) for path in paths or ()]
    for each in found:
        if each.call["collective"] != collective:
            raise RequestError(f"{each.file} is a schedule of {each.call['collective']}, not of {collective}")
        if each.call["why"]:
            raise RequestError(f"{each.file} is no correct {collective}: {each.call['why']}")
    return found


def require_procs(schedule: ScheduleFile, numbers: Iterable[int]) -> None:
    """Refuses a schedule for another number of processes than those of -p."""
    if schedule.call["procs"] not in numbers:
        raise RequestError(f"{schedule.file} is for {schedule.call['procs']} processes; say so with -p")


def require_root(schedule: ScheduleFile, root: int) -> None:
    if schedule.call["root"] != root:
        raise RequestError(f"{schedule.file} has root {schedule.call['root']}; say so with --root")
