# SPDX-License-Identifier: BSD-3-Clause
"""The acceptance kit: parts that run one after the other within a budget, and their verdicts."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from convene._core import RequestError
from convene.base.result_types import Json
from convene.base.text import duration_text
from convene.mpi.processes import RunError
from convene.mpi.settings import Setting

SMALL_RANKS = 32  # of schedules that are verified without MPI


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Launched:
    """How ranks are started, and until when (time.monotonic)."""

    setting: Setting
    procs: int
    quick: bool
    deadline: float

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()


@dataclass
class Found:
    """What a part found: sentences, and data for the JSON. A failure does not end the part."""

    sentences: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    data: Json = field(default_factory=dict)
    skipped: str = ""  # why nothing was found

    @property
    def verdict(self) -> Verdict:
        if self.failures:
            return Verdict.FAILED
        return Verdict.SKIPPED if self.skipped else Verdict.PASSED


@dataclass(frozen=True)
class Part:
    name: str
    run: Callable[[Launched], Found]
    is_quick: bool = True  # part of --quick


@dataclass(frozen=True)
class Result:
    name: str
    seconds: float
    found: Found

    def as_json(self) -> Json:
        return {
            "part": self.name,
            "verdict": self.found.verdict.value,
            "seconds": round(self.seconds, 3),
            "sentences": self.sentences,
            "data": self.found.data,
        }

    @property
    def sentences(self) -> list[str]:
        skipped = [self.found.skipped] if self.found.skipped else []
        return [*self.found.failures, *self.found.sentences, *skipped]


def run_parts(
    parts: list[Part], launched: Launched, announce: Callable[[int, int, str], None]
) -> Iterator[Result]:
    """Runs the parts. One that the budget does not reach is skipped; one that cannot run has failed."""
    wanted = [part for part in parts if part.is_quick or not launched.quick]
    for number, part in enumerate(wanted, 1):
        announce(number, len(wanted), part.name)
        start = time.monotonic()
        if launched.left <= 0:
            found = Found(skipped="the budget is exhausted")
        else:
            try:
                found = part.run(launched)
            except (RunError, RequestError) as error:
                found = Found(failures=[str(error)])
        yield Result(part.name, time.monotonic() - start, found)


def summary(results: list[Result], seconds: float) -> str:
    failed = [each.name for each in results if each.found.verdict is Verdict.FAILED]
    skipped = [each.name for each in results if each.found.verdict is Verdict.SKIPPED]
    text = f"failed: {', '.join(failed)}" if failed else "passed"
    if skipped:
        text += f"; skipped: {', '.join(skipped)}"
    return f"{text} ({duration_text(seconds)})"
