# SPDX-License-Identifier: BSD-3-Clause
"""Clairvoyant with forecasts: vectors in one piece, reduced again and again with late ranks
(Marendic et al. 2016, section 6.2, table 5)."""

import random
from collections.abc import Sequence
from typing import TypedDict

from rich.table import Table

from convene.base import console
from convene.simulate import cases, platforms
from convene.studies.simulated import Simulate

PROCS, BYTES, ITERATIONS = 64, 16 << 20, 100
WINDOW = 5  # iterations of the moving average

# The source took its arrivals from a trace of Helsim that is not public. These have a level for each rank
# that drifts, and jitter; the spread makes the binomial tree as slow as it was there.
SPREAD, DRIFT, JITTER, SEED = 0.05, 0.05, 0.1, 1  # seconds; parts of the spread
AVERAGE, TRUTH = "clairvoyant, moving average", "clairvoyant, truth"
PUBLISHED = {"binomial": 13.88, "local_redirect": 13.04, AVERAGE: 12.94, TRUTH: 12.81}  # seconds in all
Pattern = tuple[float, ...]


def trace(procs: int = PROCS, iterations: int = ITERATIONS, spread: float = SPREAD) -> list[Pattern]:
    """Arrivals in seconds: a row for each iteration."""
    generator = random.Random(SEED)
    levels = [generator.uniform(0, spread) for _ in range(procs)]
    rows = []
    for _ in range(iterations):
        levels = [max(0.0, level + generator.gauss(0, DRIFT * spread)) for level in levels]
        rows.append(tuple(max(0.0, level + generator.gauss(0, JITTER * spread)) for level in levels))
    return rows


def moving_average(rows: Sequence[Pattern]) -> list[Pattern]:
    """Forecasts from the last iterations; none for the first one."""
    forecasts: list[Pattern] = [(0.0,) * len(rows[0])]
    for now in range(1, len(rows)):
        last = rows[max(0, now - WINDOW) : now]
        forecasts.append(tuple(sum(column) / len(last) for column in zip(*last, strict=True)))
    return forecasts


def in_rounds(rows: Sequence[Pattern], tick: float) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int((at - min(row)) / tick) for at in row) for row in rows)


def case(
    platform: platforms.Platform,
    spec: str,
    rows: Sequence[Pattern],
    forecasts: tuple[tuple[int, ...], ...] = (),
) -> cases.Case:
    return cases.Case("reduce", spec, PROCS, (BYTES,), platform, "cyclic", tuple(rows), forecasts=forecasts)


class Result(TypedDict):
    procs: int
    bytes: int
    iterations: int
    balanced: float  # seconds of the binomial tree
    seconds: dict[str, float]  # in all, by algorithm


def run(simulate: Simulate, platform: platforms.Platform) -> Result:
    rows = trace()
    ((balanced,),) = simulate([case(platform, "binomial", [(0.0,) * PROCS])])
    tick = balanced[0]["seconds"] / (PROCS.bit_length() - 1)
    atomic = "clairvoyant;segments=1"
    simulated = simulate(
        [
            case(platform, "binomial", rows),
            case(platform, "local_redirect", rows),
            case(platform, atomic, rows, in_rounds(moving_average(rows), tick)),
            case(platform, atomic, rows, in_rounds(rows, tick)),
        ]
    )
    return {
        "procs": PROCS,
        "bytes": BYTES,
        "iterations": ITERATIONS,
        "balanced": balanced[0]["seconds"],
        "seconds": {
            name: sum(iteration["seconds"] for iteration in sizes[0])
            for name, sizes in zip(PUBLISHED, simulated, strict=True)
        },
    }


def table(result: Result) -> Table:
    numbers = ("simulated", "of binomial", "published", "of binomial ")
    rows = console.table(
        "16 MiB in one piece, 64 ranks, 100 iterations with late ranks: seconds in all",
        "algorithm",
        *numbers,
        numbers=numbers,
    )
    for name, published in PUBLISHED.items():
        simulated, tree = result["seconds"][name], result["seconds"]["binomial"]
        rows.add_row(
            name,
            f"{simulated:.2f} s",
            f"{simulated / tree:.3f}",
            f"{published:.2f} s",
            f"{published / PUBLISHED['binomial']:.3f}",
        )
    return rows


def sentence(result: Result) -> str:
    seconds = result["seconds"]
    order = sorted(PUBLISHED, key=lambda name: -seconds[name])
    kept = "as published" if order == list(PUBLISHED) else "not as published"
    return (
        f"In one piece Local Redirect takes {seconds['local_redirect'] / seconds['binomial']:.2f} of the "
        f"binomial tree's time without a forecast; the order of the four is {kept}."
    )
