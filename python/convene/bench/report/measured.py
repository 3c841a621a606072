# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that were read, with the winner of each case."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from convene import _core
from convene._core import RequestError
from convene.base.result_types import Cell, MeasuredRun, Measurement
from convene.bench import metrics
from convene.bench.metrics import Metric
from convene.bench.summary import Case, Row, cases, summarize_all
from convene.catalogue import selection
from convene.stats import arrivals, inference

SURE = 0.05  # of the false discovery rate
TIE = 1e-6  # part of an exact time: less is the rounding of events


@dataclass(frozen=True)
class Win:
    """Who was fastest in one case, and by how much of the second one's time."""

    case: Case
    winner: str
    second: str  # empty if all are equally fast
    gain: float
    p_value: float  # corrected for the number of cases
    tied: tuple[str, ...] = ()  # the winner and those with the same exact time; second is the next

    @property
    def is_sure(self) -> bool:
        return self.p_value < SURE


@dataclass(frozen=True)
class Measured:
    """A measurement that was read."""

    name: str
    result: Measurement
    metric: Metric

    @property
    def collective(self) -> str:
        return str(self.result["collective"])

    @cached_property
    def cells(self) -> dict[Case, Cell]:
        return cases(self.result)

    @cached_property
    def rows(self) -> list[Row]:
        return summarize_all(self.result, [selection.NATIVE], self.metric)

    @cached_property
    def algorithms(self) -> list[str]:
        return list(dict.fromkeys(row.name for row in self.rows))

    @cached_property
    def wins(self) -> list[Win]:
        return find_wins(self)

    @property
    def is_repeated(self) -> bool:
        """Whether there are several observations of everything."""
        return min(row.observations for row in self.rows) > 1

    @property
    def is_exact(self) -> bool:
        """True of a simulation without noise or random arrivals: there is no chance in it."""
        return not self.is_repeated and all(
            run.get("simulated") and is_deterministic(run) for run in self.result["runs"]
        )

    @property
    def caption_of_times(self) -> str:
        """What a point of a figure is."""
        what = f"{self.metric.by.capitalize()}s with 95 % intervals; lower" if self.is_repeated else "Lower"
        return f"{what} is better."

    @property
    def sentence_of_metric(self) -> str:
        text = self.metric.summary if self.is_repeated else self.metric.summary.partition(";")[0]
        return f"{text[0].upper()}{text[1:]}."

    @property
    def tells_every_rank(self) -> bool:
        """True if the file has the arrivals and exits of each rank."""
        return all("arrival" in each for cell in self.cells.values() for each in cell["contenders"])

    def different(self, name: str) -> list[Any]:
        """All values of procs, size, arrivals or distribution; numbers in their order."""
        values = list(dict.fromkeys(getattr(case, name) for case in self.cells))
        return sorted(values) if name in ("procs", "size") else values

    def values(self, case: Case, algorithm: str) -> arrivals.Array:
        cell = self.cells[case]
        names = [contender["name"] for contender in cell["contenders"]]
        found: arrivals.Array = metrics.values(cell, self.metric)[names.index(algorithm)]
        return found


def is_deterministic(run: MeasuredRun) -> bool:
    """Whether a simulation of one observation has neither noise nor random arrivals."""
    options = run.get("options", {})
    try:
        drawn = len(_core.arrival_delays(str(options.get("arrivals", "none")), run["procs"], 2, 1))
    except RequestError:  # a file of arrivals
        drawn = 1
    return options.get("noise", "none") == "none" and drawn == 1


def gain_of(seconds: float, of: float) -> float:
    """What part of the other's time is saved; of nothing, nothing."""
    return 1 - seconds / of if of else 0.0


def p_value_of_win(first: arrivals.Array, second: arrivals.Array) -> float:
    """The test is one of medians: where these say that the second is the faster one (as they may against a
    mean, with a few late observations), the first has not won."""
    if not (first > 0).all() or not (second > 0).all() or np.median(np.log(first / second)) >= 0:
        return 1.0
    return inference.p_value_of_pairs(first, second)


def find_wins(measured: Measured) -> list[Win]:
    by_case: dict[Case, list[Row]] = {}
    for row in measured.rows:
        by_case.setdefault(row.case, []).append(row)
    found = []
    for case, rows in by_case.items():
        if len(rows) < 2:
            continue
        rows = sorted(rows, key=lambda row: row.seconds.value)
        found.append(exact_win(case, rows) if measured.is_exact else probable_win(measured, case, *rows[:2]))
    p_values = inference.corrected([win.p_value for win in found])
    return [replace(win, p_value=p) for win, p in zip(found, p_values, strict=True)]


def exact_win(case: Case, rows: list[Row]) -> Win:
    """The rows are in order of their times."""
    first = rows[0]
    equal = [row for row in rows if gain_of(first.seconds.value, row.seconds.value) <= TIE]
    second = rows[len(equal)] if len(equal) < len(rows) else None
    gain = gain_of(first.seconds.value, second.seconds.value) if second else 0.0
    tied = tuple(row.name for row in equal) if len(equal) > 1 else ()
    return Win(case, first.name, second.name if second else "", gain, 0.0, tied)


def probable_win(measured: Measured, case: Case, first: Row, second: Row) -> Win:
    p_value = p_value_of_win(measured.values(case, first.name), measured.values(case, second.name))
    return Win(case, first.name, second.name, gain_of(first.seconds.value, second.seconds.value), p_value)
