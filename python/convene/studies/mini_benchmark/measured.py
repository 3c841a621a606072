# SPDX-License-Identifier: BSD-3-Clause
"""The mini-benchmark of the work on all-gather under imbalanced arrivals (Proficz 2021, section 4)."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from convene.bench import requests
from convene.studies.measured import Part, Results, Study, means, percent
from convene.studies.mini_benchmark import experiment
from convene.studies.mini_benchmark.experiment import DELAYS_MS, KILOFLOATS, PROCS
from convene.studies.mini_benchmark.published import PUBLISHED

REGULAR = tuple(experiment.REGULAR.values())
AWARE = tuple(f"{name}@truth" for name in experiment.AWARE.values())
OWN = f"{experiment.OWN['LIST']}@truth"
METRIC = "elapsed"


def part(full: bool) -> Part:
    kilofloats = KILOFLOATS if full else (128, 512)
    delays = DELAYS_MS[1:] if full else (1, 5, 10)
    return Part(
        "allgather",
        PROCS if full else (4, 8),
        lambda procs: [experiment.block_bytes(each, procs) for each in kilofloats],
        (*REGULAR, *AWARE, OWN),
        METRIC,
        arrivals=lambda procs: [f"uniform:{delay}ms" for delay in delays],
    )


@dataclass(frozen=True)
class Published:
    """Of the cells with one delay: the percentage that arrival-aware algorithms win, and mean speedup."""

    aware: float
    speedup: float | None


@dataclass(frozen=True)
class Row:
    arrivals: str
    cases: int
    aware: float
    speedup: float | None
    list: float
    published: Published


def published(pattern: str) -> Published:
    """Of the cells with this delay: the share that arrival-aware algorithms win, and their speedup."""
    delay = 0 if pattern == requests.BALANCED else int(pattern.partition(":")[2].removesuffix("ms"))
    own = [winner for (_, _, at), winner in PUBLISHED.items() if at == delay]
    faster = [speedup for name, speedup in own if name.lower() in ("bdr", "bslb")]
    return Published(100 * len(faster) / len(own), fmean(faster) if faster else None)


def judge(results: Results) -> list[Row]:
    found = means(results["allgather"], METRIC)
    rows = []
    for pattern in dict.fromkeys(case.arrivals for case in found):
        cells = [times for case, times in found.items() if case.arrivals == pattern]
        regular = [min(times[name] for name in REGULAR if name in times) for times in cells]
        aware = [min(times[name] for name in AWARE) for times in cells]
        faster = [r / a for r, a in zip(regular, aware, strict=True) if a < r]
        rows.append(
            Row(
                arrivals=pattern,
                cases=len(cells),
                aware=100 * len(faster) / len(cells),
                speedup=fmean(faster) if faster else None,
                list=fmean(r / times[OWN] for r, times in zip(regular, cells, strict=True)),
                published=published(pattern),
            )
        )
    return rows


def ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


COLUMNS: dict[str, Callable[[Row], str]] = {
    "arrivals": lambda row: row.arrivals,
    "cases": lambda row: str(row.cases),
    "BDR or BSLB best": lambda row: percent(row.aware),
    "published": lambda row: percent(row.published.aware),
    "speedup there": lambda row: ratio(row.speedup),
    "published ": lambda row: ratio(row.published.speedup),
    "list schedule": lambda row: ratio(row.list),
}


def sentences(rows: list[Row]) -> list[str]:
    late = [row for row in rows if row.arrivals != requests.BALANCED]
    near = [row.arrivals for row in late if abs(row.aware - row.published.aware) <= 10]
    verdict = f"within 10 points of it for {', '.join(near)}" if near else "nowhere within 10 points of it"
    here = fmean(row.aware for row in late)
    there = fmean(row.published.aware for row in late)
    return [
        f"With late ranks BDR or BSLB is faster than the best regular algorithm in {here:.0f} % of the "
        f"cases, in the source in {there:.0f} %: {verdict}.",
        "These algorithms receive the arrival of each rank, but a rank starts when it enters the call. "
        "In the source, a thread of each late rank starts before (as in ./dev bench "
        "mini_benchmark). The regular gather + broadcast uses a binomial tree; the source gathers linearly.",
    ]


STUDY = Study(
    "mini-benchmark",
    "the mini-benchmark with late ranks (Proficz 2021)",
    "Proficz 2021, table 4",
    "Tryton, 28 to 48 nodes, Gigabit Ethernet",
    lambda full: [part(full)],
    judge,
    COLUMNS,
    sentences,
)
