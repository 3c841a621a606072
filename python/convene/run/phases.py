# SPDX-License-Identifier: BSD-3-Clause
"""Declared phases and background progress, from the profiles of ranks."""

from collections.abc import Iterable
from dataclasses import dataclass

from convene.base.result_types import Json
from convene.run.profile_types import PhaseTally, Profile, ThreadUsage


@dataclass
class PhaseRow:
    """The runs of one collective by one algorithm that phases were declared for, over all ranks."""

    collective: str
    algorithm: str
    runs: int = 0  # of each rank, added up
    phases: int = 0
    forecasts: int = 0
    phase_seconds: float = 0.0
    error_seconds: float = 0.0
    messages: int = 0
    early_messages: int = 0

    def add(self, tally: PhaseTally) -> None:
        self.runs += int(tally["runs"])
        self.phases += int(tally["phases"])
        self.forecasts += int(tally["forecasts"])
        self.messages += int(tally["messages"])
        self.early_messages += int(tally["early_messages"])
        self.phase_seconds += float(tally["phase_seconds"])
        self.error_seconds += float(tally["error_seconds"])

    @property
    def seconds_per_phase(self) -> float:
        return self.phase_seconds / max(self.phases, 1)

    @property
    def error_per_forecast(self) -> float:
        """By how much a forecast was wrong, in the mean."""
        return self.error_seconds / max(self.forecasts, 1)

    def as_json(self) -> Json:
        return {
            "collective": self.collective,
            "algorithm": self.algorithm,
            "runs": self.runs,
            "phases": self.phases,
            "forecasts": self.forecasts,
            "seconds_per_phase": self.seconds_per_phase,
            "error_per_forecast": self.error_per_forecast,
            "messages": self.messages,
            "early_messages": self.early_messages,
        }


@dataclass
class Background:
    """The threads that were asked for."""

    ranks: int = 0  # that asked for one
    ran: int = 0
    cpu_seconds: float = 0.0

    def add(self, usage: ThreadUsage) -> None:
        self.ranks += 1
        self.ran += bool(usage["ran"])
        self.cpu_seconds += float(usage["cpu_seconds"])

    def as_json(self) -> Json:
        return {"ranks": self.ranks, "ran": self.ran, "cpu_seconds": self.cpu_seconds}


def collect(profile: Profile, rows: dict[tuple[str, str], PhaseRow], background: Background) -> None:
    """Adds what one rank wrote down."""
    for tally in tallies(profile):
        names = (str(tally["collective"]), str(tally["algorithm"]))
        rows.setdefault(names, PhaseRow(*names)).add(tally)
    if usage := profile.get("progress_thread"):
        background.add(usage)


def tallies(profile: Profile) -> Iterable[PhaseTally]:
    for communicator in profile["communicators"]:
        yield from communicator.get("phases", [])
