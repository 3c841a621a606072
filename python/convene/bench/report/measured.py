# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that were read, with the winner of each case."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from convene.base.result_types import Cell, Measurement
from convene.bench import metrics
from convene.bench.metrics import Metric
from convene.bench.summary import Case, Row, cases, summarize_all
from convene.catalogue import selection
from convene.stats import arrivals, inference

SURE = 0.05  # of the false discovery rate


@dataclass(frozen=True)
class Win:
    """Who was fastest in one case, and by how much of the second one's time."""

    case: Case
    winner: str
    second: str
    gain: float
    p_value: float  # corrected for the number of cases

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
        return not self.is_repeated and all(run.get("simulated") for run in self.result["runs"])

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


def corrected(p_values: list[float]) -> list[float]:
    """For the number of tests, after Benjamini and Hochberg."""
    return [float(p) for p in stats.false_discovery_control(p_values)] if p_values else []


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
        first, second = sorted(rows, key=lambda row: row.seconds.value)[:2]
        gain = gain_of(first.seconds.value, second.seconds.value)
        if measured.is_exact:
            p_value = 0.0 if gain > 0 else 1.0
        else:
            p_value = p_value_of_win(measured.values(case, first.name), measured.values(case, second.name))
        found.append(Win(case, first.name, second.name, gain, p_value))
    p_values = corrected([win.p_value for win in found])
    return [
        Win(win.case, win.winner, win.second, win.gain, p) for win, p in zip(found, p_values, strict=True)
    ]
