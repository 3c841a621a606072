# SPDX-License-Identifier: BSD-3-Clause
"""The result of the simulated mini-benchmark, as written to JSON."""

from typing import TypedDict


class Cell(TypedDict):
    procs: int
    kilofloats: int
    delay_ms: int
    lower_bound: float  # seconds: no algorithm's mean elapsed time is less
    elapsed: dict[str, float]  # seconds, by the source's names of algorithms


class Peak(TypedDict):
    procs: int
    kilofloats: int
    delay_ms: int
    speedup: float


class Delay(TypedDict):
    """Shares of cells in percent, and speedups over the best regular algorithm, at one largest delay."""

    delay_ms: int
    aware: float
    aware_where_published: float
    published_aware: float
    published_speedup: float | None
    BDR: float
    BSLB: float
    LIST: float
    list_best: float
    over_bound: float  # the best algorithm's time over the lower bound, mean over cells


class Summary(TypedDict):
    iterations: int
    wins: dict[str, int]
    wins_where_published: dict[str, int]
    published_wins: dict[str, int]
    compared: int
    same_winner: int
    same_class: int
    late: int
    late_same_class: int
    highest: dict[str, Peak]
    by_delay: list[Delay]


class Result(TypedDict):
    study: str
    source: str
    cells: list[Cell]
    summary: Summary
