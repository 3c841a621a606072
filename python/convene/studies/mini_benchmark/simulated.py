# SPDX-License-Identifier: BSD-3-Clause
"""The mini-benchmark of the work on all-gather under imbalanced arrivals (Proficz 2021, section 4) on
Tryton."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Unpack

from rich.table import Table

from convene import _core
from convene.base import console
from convene.base.core_types import Simulated, SimulationFields
from convene.simulate import inputs, platforms
from convene.simulate.cases import Case
from convene.studies.mini_benchmark import experiment
from convene.studies.mini_benchmark.experiment import AWARE, DELAYS_MS, KILOFLOATS, OWN, PROCS
from convene.studies.mini_benchmark.published import PUBLISHED
from convene.studies.mini_benchmark.result import Cell, Delay, Peak, Result, Summary
from convene.studies.simulated import Simulate, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ITERATIONS = 256
HALF = 0.1  # seconds of computation before, and after, the edge, at which ranks send their expected arrival

# The source's gather and broadcast are two calls, one after the other.
REGULAR = {**experiment.REGULAR, "LNBC": "gather, bcast"}
BROADCASTS = ("scatter_allgather;allgather=ring", "chain;segments=32")
ALGORITHMS = REGULAR | AWARE | OWN


@dataclass(frozen=True)
class MiniBenchmark(Case):
    """One algorithm in one cell. Its patterns are made when it is simulated; the result is the mean
    of all of them."""

    most_delay: float = 0.0  # seconds
    iterations: int = 1

    def computations(self) -> Iterator[list[float]]:
        """By iteration: how long each rank computes. The same for all algorithms and sizes."""
        generator = random.Random(f"{self.procs} {self.most_delay}")
        for _ in range(self.iterations):
            yield [2 * HALF + generator.uniform(0, self.most_delay) for _ in range(self.procs)]

    def simulate(self, _on_part: Callable[[], None] | None = None) -> list[list[Simulated]]:
        arrivals = list(self.computations())
        if self.spec == REGULAR["LNBC"]:
            runs = self.simulate_gather_bcast(arrivals)
        elif self.spec in REGULAR.values():
            runs = self.run_calls(self.collective, self.spec, arrivals)
        else:
            runs = self.simulate_with_forecast(arrivals)
        mean: Simulated = {
            "seconds": fmean(run["seconds"] for run in runs),
            "mean": fmean(run["mean"] for run in runs),
        }
        if "mean_bound" in runs[0]:
            mean["mean_bound"] = fmean(run["mean_bound"] for run in runs)
        return [[mean]]

    def run_calls(
        self, collective: str, spec: str, arrivals: list[list[float]], **others: Unpack[SimulationFields]
    ) -> list[Simulated]:
        request = _core.SimulationRequest(
            collective=collective,
            spec=spec,
            procs=self.procs,
            placement=self.mapping,
            sizes=self.sizes,
            arrivals=arrivals,
            **others,
        )
        return _core.simulate(request, self.platform.parsed)

    def simulate_gather_bcast(self, arrivals: list[list[float]]) -> list[Simulated]:
        """A gather followed by a broadcast: the fastest in the mean of those that MPIs use for this size."""
        gathered = self.run_calls("gather", "linear", arrivals, exits=True)
        (size,) = self.sizes
        entered = [run["exits"] for run in gathered]
        whole = replace(self, sizes=(size * self.procs,))
        tried = [
            self.elapsed(whole.run_calls("bcast", spec, entered, exits=True), arrivals) for spec in BROADCASTS
        ]
        return min(tried, key=lambda runs: fmean(run["mean"] for run in runs))

    @staticmethod
    def elapsed(runs: list[Simulated], arrivals: list[list[float]]) -> list[Simulated]:
        """From the arrival at the gather to the exit from the broadcast."""
        return [
            {
                "seconds": max(run["exits"]) - min(came),
                "mean": fmean(left - at for left, at in zip(run["exits"], came, strict=True)),
            }
            for run, came in zip(runs, arrivals, strict=True)
        ]

    def simulate_with_forecast(self, arrivals: list[list[float]]) -> list[Simulated]:
        """After half of its computation a rank tells all others when it will come; when all have, each
        makes the schedule, and its background thread begins with what does not need the rank's own block."""
        (size,) = self.sizes
        tick = inputs.round_seconds(self.platform, size)
        forecasts, begins = [], []
        for times in arrivals:
            known = max(times) / 2 + self.telling()
            first = max(known, min(times))
            forecasts.append([int(max(0.0, time - first) / tick) for time in times])
            begins.append([known] * self.procs)
        # Unequal cuts (BSLB's first segments are tiny) need sizes by rank.
        blocks = [[float(size)] * self.procs]
        return self.run_calls(
            self.collective, self.spec, arrivals, forecasts=forecasts, begins=begins, blocks=blocks
        )

    def telling(self) -> float:
        """Seconds in which all ranks exchange a number of 8 bytes."""
        (run,) = replace(self, sizes=(8,)).run_calls("allgather", "bruck", [[0.0] * self.procs])
        return run["seconds"]


def run(simulate: Simulate) -> Result:
    platform = platforms.load_platform("tryton")
    cases = [
        MiniBenchmark(
            "allgather",
            spec,
            procs,
            (experiment.block_bytes(kilofloats, procs),),
            platform,
            "cyclic",
            (),
            most_delay=delay / 1000,
            iterations=ITERATIONS if delay else 1,
        )
        for procs in PROCS
        for kilofloats in KILOFLOATS
        for delay in DELAYS_MS
        for spec in ALGORITHMS.values()
    ]
    results = iter(simulate(cases))
    cells: list[Cell] = []
    for procs in PROCS:
        for kilofloats in KILOFLOATS:
            for delay in DELAYS_MS:
                found = {name: next(results)[0][0] for name in ALGORITHMS}
                cells.append(
                    {
                        "procs": procs,
                        "kilofloats": kilofloats,
                        "delay_ms": delay,
                        # The least: ranks with a background thread may receive before they arrive.
                        "lower_bound": min(
                            run["mean_bound"] for run in found.values() if "mean_bound" in run
                        ),
                        "elapsed": {name: run["mean"] for name, run in found.items()},
                    }
                )
    return {
        "study": "mini-benchmark",
        "source": "Proficz 2021, tables 3 and 4",
        "cells": cells,
        "summary": summarize(cells),
    }


def best(times: dict[str, float], names: Iterable[str]) -> str:
    return min(names, key=lambda name: times[name])


def speedup(times: dict[str, float], name: str) -> float:
    """Against the best regular algorithm, as the source states it."""
    return times[best(times, REGULAR)] / times[name]


def winner_of(cell: Cell) -> str:
    return best(cell["elapsed"], REGULAR | AWARE)


def published_of(cell: Cell) -> tuple[str, float] | None:
    """The winner, and its speedup where it is one that uses arrivals; nothing of the table that cannot
    be read."""
    return PUBLISHED.get((cell["procs"], cell["kilofloats"], cell["delay_ms"]))


def summarize(cells: list[Cell]) -> Summary:
    known = [(cell, found) for cell in cells if (found := published_of(cell))]
    late = [(cell, found) for cell, found in known if cell["delay_ms"] > 0]
    peaks: dict[str, Peak] = {}
    for name in (*AWARE, *OWN):
        top = max(cells, key=lambda cell: speedup(cell["elapsed"], name))
        peaks[name] = {
            "procs": top["procs"],
            "kilofloats": top["kilofloats"],
            "delay_ms": top["delay_ms"],
            "speedup": speedup(top["elapsed"], name),
        }
    return {
        "iterations": ITERATIONS,
        "wins": dict(Counter(winner_of(cell) for cell in cells)),
        "wins_where_published": dict(Counter(winner_of(cell) for cell, _ in known)),
        "published_wins": dict(Counter(found[0] for _, found in known)),
        "compared": len(known),
        "same_winner": sum(winner_of(cell) == found[0] for cell, found in known),
        "same_class": sum((winner_of(cell) in AWARE) == (found[0] in AWARE) for cell, found in known),
        "late": len(late),
        "late_same_class": sum((winner_of(cell) in AWARE) == (found[0] in AWARE) for cell, found in late),
        "highest": peaks,
        "by_delay": [by_delay(cells, delay) for delay in DELAYS_MS],
    }


def mean_speedup(cells: list[Cell], name: str) -> float:
    return fmean(speedup(cell["elapsed"], name) for cell in cells)


def by_delay(cells: list[Cell], delay: int) -> Delay:
    """Shares of cells that schedules with a forecast win, and how much faster they are than the best
    regular one."""
    own = [cell for cell in cells if cell["delay_ms"] == delay]
    known = [(cell, found) for cell in own if (found := published_of(cell))]
    faster = [found[1] for _, found in known if found[0] in AWARE]
    return {
        "delay_ms": delay,
        "aware": 100 * fmean(winner_of(cell) in AWARE for cell in own),
        "aware_where_published": 100 * fmean(winner_of(cell) in AWARE for cell, _ in known),
        "published_aware": 100 * fmean(found[0] in AWARE for _, found in known),
        "published_speedup": fmean(faster) if faster else None,
        "BDR": mean_speedup(own, "BDR"),
        "BSLB": mean_speedup(own, "BSLB"),
        "LIST": mean_speedup(own, "LIST"),
        "over_bound": fmean(min(cell["elapsed"].values()) / cell["lower_bound"] for cell in own),
        "list_best": 100 * fmean(best(cell["elapsed"], ALGORITHMS) == "LIST" for cell in own),
    }


def tables(result: Result) -> list[Table]:
    wins = console.table(
        "Cells won, by the source's algorithms",
        "algorithm",
        "of 420",
        "of 210",
        "published, of 210",
        numbers=("of 420", "of 210", "published, of 210"),
    )
    summary = result["summary"]
    for name in REGULAR | AWARE:
        kinds = (summary["wins"], summary["wins_where_published"], summary["published_wins"])
        counts = (kind.get(name, 0) for kind in kinds)
        wins.add_row(name, *map(str, counts))
    heads = ("aware win", "published", "BDR", "BSLB", "published, mean", "LIST", "LIST best", "best / bound")
    delays = console.table(
        "By the largest delay: cells of P = 28 … 48 that BDR or BSLB win; over all P, the mean speedup over "
        "the best regular algorithm (published: P = 28 … 48, where BDR or BSLB wins); LIST is Convene's list "
        "schedule, LIST best the cells of all P in which it is the fastest of all; best / bound the fastest "
        "algorithm's time over the lower bound of any algorithm",
        "delay",
        *heads,
        numbers=("delay", *heads),
    )
    for row in summary["by_delay"]:
        published = row["published_speedup"]
        delays.add_row(
            f"{row['delay_ms']} ms",
            f"{row['aware_where_published']:.0f} %",
            f"{row['published_aware']:.0f} %",
            f"{row['BDR']:.2f}",
            f"{row['BSLB']:.2f}",
            f"{published:.2f}" if published else "",
            f"{row['LIST']:.2f}",
            f"{row['list_best']:.0f} %",
            f"{row['over_bound']:.2f}",
        )
    return [wins, delays]


def sentences(result: Result) -> list[str]:
    summary = result["summary"]
    peaks = summary["highest"]
    where = {
        name: f"{peak['speedup']:.2f} (P = {peak['procs']}, {peak['delay_ms']} ms, {peak['kilofloats']}K)"
        for name, peak in peaks.items()
    }
    return [
        f"In {summary['same_class']} of {summary['compared']} cells both agree on whether an algorithm that "
        f"uses arrivals is the best, in {summary['same_winner']} on which one.",
        f"Highest speedup over the best regular algorithm: BDR {where['BDR']}, published 1.90 (P = 28, 5 "
        f"ms, 256K); BSLB {where['BSLB']}, published 1.67 (P = 48, 50 ms, 1M); the list schedule "
        f"{where['LIST']}.",
    ]


def draw(result: Result) -> "Figure":
    from convene.studies import figures  # slow import of Matplotlib

    rows = [
        (
            cell["procs"],
            cell["kilofloats"],
            cell["delay_ms"],
            best(cell["elapsed"], ALGORITHMS),
            cell["elapsed"],
        )
        for cell in result["cells"]
    ]
    return figures.mini_benchmark(rows, list(ALGORITHMS), list(REGULAR), PUBLISHED)


STUDY = Study(
    "mini-benchmark", "allgather of late ranks on Tryton (Proficz 2021)", run, tables, sentences, draw
)
