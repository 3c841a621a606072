# SPDX-License-Identifier: BSD-3-Clause
"""Metrics: the value of one observation, as benchmark suites and the sources define it, by name.

An observation knows when every rank entered and left. A metric makes one number of it (seconds per call), and
says how the numbers of all observations are summed up: by their median or their mean.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from convene import _core
from convene._core import RequestError
from convene.base.result_types import Cell, Contender
from convene.stats.arrivals import Array, call_statistics, elapsed, waiting

NANOSECOND = 1e-9


@dataclass(frozen=True)
class Metric:
    name: str
    summary: str
    by: str  # "median" or "mean"
    value: Callable[[Array, Array], Array]  # of arrivals and exits in seconds: (observations, ranks)


def _statistic(name: str) -> Callable[[Array, Array], Array]:
    return lambda arrivals, exits: call_statistics(arrivals, exits)[name]


METRICS = {
    metric.name: metric
    for metric in (
        Metric(
            "max",
            "the slowest rank's time in the call; median over observations",
            "median",
            lambda a, f: elapsed(a, f).max(axis=1),
        ),
        Metric(
            "nbcbench",
            "NBCBench: median over repetitions of the maximum over ranks",
            "median",
            lambda a, f: elapsed(a, f).max(axis=1),
        ),
        Metric(
            "osu",
            "OSU: each rank's mean over iterations, averaged over ranks",
            "mean",
            lambda a, f: elapsed(a, f).mean(axis=1),
        ),
        Metric(
            "osu_min",
            "OSU: of all ranks' times the least; mean over iterations",
            "mean",
            lambda a, f: elapsed(a, f).min(axis=1),
        ),
        Metric(
            "osu_max",
            "OSU: of all ranks' times the greatest; mean over iterations",
            "mean",
            lambda a, f: elapsed(a, f).max(axis=1),
        ),
        Metric(
            "imb",
            "Intel MPI Benchmarks, t_avg: time of all iterations by their number, averaged over ranks",
            "mean",
            lambda a, f: elapsed(a, f).mean(axis=1),
        ),
        Metric(
            "elapsed",
            "mini-benchmark (Proficz 2021): time from arrival to exit, averaged over ranks and iterations",
            "mean",
            _statistic("mean_elapsed"),
        ),
        Metric("run_time", "first arrival to last exit; median", "median", _statistic("run_time")),
        Metric(
            "last_exit",
            "last arrival to last exit; median",
            "median",
            _statistic("last_arrival_to_last_exit"),
        ),
        Metric(
            "waiting",
            "time in the call before the last arrival, mean over ranks; median",
            "median",
            lambda a, f: waiting(a, f).mean(axis=1),
        ),
    )
}


def find_metric(name: str) -> Metric:
    if name not in METRICS:
        raise RequestError(_core.no_such("metric", name, list(METRICS)))
    return METRICS[name]


def default_metric(patterns: list[str]) -> Metric:
    """elapsed with late ranks, because the slowest rank's time then depends little on the algorithm; "
    "otherwise max."""
    return METRICS["elapsed" if any(pattern != "none" for pattern in patterns) else "max"]


def times(contender: Contender) -> tuple[Array, Array]:
    """Arrivals and exits in seconds: (observations, ranks)."""
    return (
        np.array(contender["arrival"], dtype=float) * NANOSECOND,
        np.array(contender["exit"], dtype=float) * NANOSECOND,
    )


def valid_observations(cell: Cell) -> NDArray[np.bool_]:
    """Repetitions that count: those in which no rank missed the deadline, with any contender."""
    number = len(cell["contenders"][0]["seconds"])
    valid = np.ones(number, dtype=bool)
    for contender in cell["contenders"]:
        valid &= np.array(contender.get("valid", [1] * number), dtype=bool)
    return valid


def values(cell: Cell, metric: Metric) -> Array:
    """Seconds per call: (contenders, observations that count)."""
    rows = [_value(contender, metric, cell.get("calls", 1)) for contender in cell["contenders"]]
    return np.array(rows)[:, valid_observations(cell)]


# From first arrival to last exit, and from arrival to exit in the mean over ranks.
SIMULATED: dict[str, Literal["seconds", "mean"]] = {"run_time": "seconds", "elapsed": "mean", "osu": "mean"}


def _value(contender: Contender, metric: Metric, calls: int) -> Array:
    if metric.name in ("max", "nbcbench"):
        return np.array(contender["seconds"], dtype=float)
    simulated = SIMULATED.get(metric.name)
    if "arrival" not in contender and simulated and simulated in contender:
        return np.array(contender[simulated], dtype=float)
    if "arrival" not in contender:
        raise RequestError(
            f"the metric {metric.name} needs the times of every rank, which this file lacks; use --metric max"
        )
    return metric.value(*times(contender)) / calls


OF_RANKS = {"least": "osu_min", "mean": "osu", "greatest": "osu_max"}  # a call's time, of all ranks


def winners_of_ranks(cell: Cell) -> list[str]:
    """The best algorithm by the least, by the mean and by the greatest time of all ranks."""
    names = [contender["name"] for contender in cell["contenders"]]
    means = [values(cell, METRICS[name]).mean(axis=1) for name in OF_RANKS.values()]
    return [names[int(np.argmin(own))] for own in means]


@dataclass(frozen=True)
class Absorbed:
    """How an algorithm stood the imbalance, one value an observation."""

    imbalance: Array  # in seconds
    absorption: Array  # in seconds
    normalised: Array  # by the balanced run time


def absorbed(balanced: Contender, late: Contender) -> Absorbed:
    """Of one contender at one size. The balanced run time is the median of those when all come at once
    (Proficz 2021, equations 1 to 4)."""
    reference = float(np.median(call_statistics(*times(balanced))["run_time"]))
    found = call_statistics(*times(late))
    pairs = list(zip(found["run_time"], found["imbalance"], strict=True))
    return Absorbed(
        found["imbalance"],
        np.array([_core.absorption(reference, run, omega) for run, omega in pairs]),
        np.array([_core.normalised_absorption(reference, run, omega) for run, omega in pairs]),
    )


def arrival_errors(contender: Contender) -> Array:
    """Lateness beyond the wanted delays, in seconds: (observations, ranks)."""
    late = np.array(contender["arrival"], dtype=float) - np.array(contender["wanted"], dtype=float)
    seconds: Array = late * NANOSECOND
    return seconds
