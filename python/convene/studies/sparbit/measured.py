# SPDX-License-Identifier: BSD-3-Clause
"""Sparbit against the algorithms of Open MPI of that time, by the average time of all ranks (Loch 2021)."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean

from convene.base.result_types import Measurement
from convene.studies.measured import Part, Results, Study, fixed, means, percent
from convene.studies.sparbit import experiment
from convene.studies.sparbit.experiment import (
    BASELINES,
    BASELINES_OF_V,
    NEAR,
    PROCS,
    PROCS_OF_V,
    SPARBIT,
    Shares,
)

METRIC = "osu"

PUBLISHED = {"regular": experiment.ALLGATHER["yahoo", "sequential"]}


@dataclass(frozen=True)
class Row:
    distribution: str
    cases: int
    best: float
    gain: float | None
    highest: float | None
    published: Shares


def gains(result: Measurement, distribution: str) -> list[float | None]:
    """By case: the share of the best other time that Sparbit saves; None if it is not the best."""
    found = []
    for case, times in means(result, METRIC).items():
        if case.distribution != distribution:
            continue
        others = [time for name, time in times.items() if name != SPARBIT]
        gain = 1 - times[SPARBIT] / min(others)
        found.append(gain if gain > 0 else None)
    return found


def judge(results: Results, by_distribution: dict[str, Shares]) -> list[Row]:
    (result,) = results.values()
    rows = []
    for distribution, shares in by_distribution.items():
        by_case = gains(result, distribution)
        won = [each for each in by_case if each is not None]
        rows.append(
            Row(
                distribution,
                cases=len(by_case),
                best=100 * len(won) / len(by_case),
                gain=100 * mean(won) if won else None,
                highest=100 * max(won) if won else None,
                published=shares,
            )
        )
    return rows


COLUMNS: dict[str, Callable[[Row], str]] = {
    "blocks": lambda row: row.distribution,
    "cases": lambda row: str(row.cases),
    "best in": lambda row: percent(row.best),
    "published": lambda row: percent(row.published.best),
    "mean gain": lambda row: percent(row.gain),
    "published ": lambda row: percent(row.published.gain),
    "highest gain": lambda row: percent(row.highest),
    "published  ": lambda row: percent(row.published.highest),
}


def sentences(rows: list[Row]) -> list[str]:
    near = [row.distribution for row in rows if abs(row.best - row.published.best) <= NEAR]
    here = ", ".join(f"{row.best:.0f} % ({row.distribution})" for row in rows)
    there = ", ".join(f"{row.published.best:.0f} %" for row in rows)
    verdict = (
        f"within {NEAR} points of the source's for {', '.join(near)} blocks"
        if near
        else f"nowhere within {NEAR} points of the source's"
    )
    return [
        f"Sparbit is the best here in {here} of the cases, in the source in {there}: {verdict}. Where it "
        "wins depends on the distance between nodes; a single machine has none."
    ]


ALLGATHER = Study(
    "sparbit",
    "allgather by Sparbit and four others (Loch 2021)",
    "Loch 2021, table 6, sequential mapping, average time",
    "Yahoo: 16 nodes of 8 cores, up to 256 processes",
    lambda full: [
        Part(
            "allgather",
            PROCS["yahoo"] if full else range(3, 9),
            fixed("1:1MiB" if full else "1:1MiB:16"),
            (SPARBIT, *BASELINES),
            METRIC,
        )
    ],
    lambda results: judge(results, PUBLISHED),
    COLUMNS,
    sentences,
)

ALLGATHERV = Study(
    "allgatherv",
    "five distributions of block sizes (Loch 2021)",
    "Loch 2021, table 8, both mappings united, average time",
    "4 machines of Cervino, 32 cores each",
    lambda full: [
        Part(
            "allgatherv",
            PROCS_OF_V if full else (3, 4, 6, 8),
            fixed("1:1MiB" if full else "16:256KiB:16"),
            (SPARBIT, *BASELINES_OF_V),
            METRIC,
            distributions=tuple(experiment.ALLGATHERV),
        )
    ],
    lambda results: judge(results, experiment.ALLGATHERV),
    COLUMNS,
    sentences,
)
