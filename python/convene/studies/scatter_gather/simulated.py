# SPDX-License-Identifier: BSD-3-Clause
"""Scatter, gather and allgather on CHiC (Viertel 2007, chapter 7), simulated: the source's statements."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from rich.table import Table

from convene.base import console
from convene.base.text import bytes_text
from convene.simulate import platforms
from convene.simulate.cases import Case
from convene.studies.scatter_gather.experiment import (
    ALLGATHERS,
    BRUCK,
    DOUBLING,
    LARGE,
    LINEAR,
    PORTS,
    PROCS,
    RING,
    SMALL,
    TIE,
    TREE,
)
from convene.studies.simulated import Simulate, Study, balanced, is_able

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WIDE = "nway_binomial;fanout=3"
TREES = (LINEAR, TREE, WIDE)
GATHERS = {"scatter": TREES, "gather": TREES, "allgather": ALLGATHERS}
SIZES = tuple(1 << power for power in range(2, 21))
ANY_SIZE_AT = (4, 28, 32)
Times = dict[tuple[str, int, int, str], float]  # by collective, processes, size and algorithm


@dataclass(frozen=True)
class Claim:
    where: str
    text: str
    holds: Callable[[Times], bool]


def fastest(times: Times, collective: str, procs: int, size: int) -> str:
    own = {
        spec: time for (name, p, s, spec), time in times.items() if (name, p, s) == (collective, procs, size)
    }
    return min(own, key=lambda spec: own[spec])


def is_among_best(times: Times, collective: str, procs: int, size: int, spec: str) -> bool:
    best = times[collective, procs, size, fastest(times, collective, procs, size)]
    return times[collective, procs, size, spec] <= TIE * best


def mostly(answers: Iterable[bool]) -> bool:
    found = list(answers)
    return 2 * sum(found) > len(found)


CLAIMS = (
    Claim(
        "figure 7.1",
        "gather, 4 B: linear is the fastest on few nodes (2 … 4)",
        lambda t: all(is_among_best(t, "gather", p, SMALL, LINEAR) for p in (2, 4)),
    ),
    Claim(
        "figure 7.1",
        "gather, 4 B: the n-way binomial tree overtakes it as nodes are added (by 32)",
        lambda t: t["gather", 32, SMALL, WIDE] < t["gather", 32, SMALL, LINEAR],
    ),
    Claim(
        "figure 7.1",
        "gather, 4 B: a fanout of 3 is better than one of 1",
        lambda t: mostly(t["gather", p, SMALL, WIDE] <= t["gather", p, SMALL, TREE] for p in PROCS if p >= 6),
    ),
    Claim(
        "figure 7.1",
        "gather, 32 KiB: linear is the best overall",
        lambda t: mostly(is_among_best(t, "gather", p, LARGE, LINEAR) for p in PROCS),
    ),
    Claim(
        "figure 7.2",
        "gather, 28 nodes: the tree is better up to 4 KiB",
        lambda t: mostly(
            min(t["gather", 28, s, TREE], t["gather", 28, s, WIDE]) < t["gather", 28, s, LINEAR]
            for s in SIZES
            if s <= 4096
        ),
    ),
    Claim(
        "section 7.2",
        "scatter behaves as gather does",
        lambda t: mostly(
            fastest(t, "scatter", p, s) == fastest(t, "gather", p, s) for s in (SMALL, LARGE) for p in PROCS
        ),
    ),
    Claim(
        "figure 7.4",
        "allgather, 4 B: Bruck with one port and recursive doubling scale best",
        lambda t: fastest(t, "allgather", 32, SMALL) in (BRUCK, DOUBLING),
    ),
    Claim(
        "figure 7.4",
        "allgather, 4 B: the modified ring is slower from six nodes on",
        lambda t: all(
            t["allgather", p, SMALL, BRUCK] < t["allgather", p, SMALL, RING] for p in PROCS if p >= 6
        ),
    ),
    Claim(
        "figure 7.4",
        "allgather, 4 B: more ports make Bruck slower (the author: contrary to LogfP, perhaps his "
        "implementation)",
        lambda t: t["allgather", 32, SMALL, PORTS] > t["allgather", 32, SMALL, BRUCK],
    ),
    Claim(
        "figure 7.4",
        "allgather, 32 KiB: the modified ring and recursive doubling are the best",
        lambda t: all(
            is_among_best(t, "allgather", p, LARGE, s) for p in (8, 16, 32) for s in (RING, DOUBLING)
        ),
    ),
    Claim(
        "figure 7.5",
        "allgather, 32 nodes: recursive doubling is the best at all sizes",
        lambda t: all(is_among_best(t, "allgather", 32, s, DOUBLING) for s in SIZES),
    ),
    Claim(
        "figure 7.5",
        "allgather, many nodes: below 4 KiB Bruck is better than the modified ring",
        lambda t: mostly(
            t["allgather", 28, s, BRUCK] < t["allgather", 28, s, RING] for s in SIZES if s < 4096
        ),
    ),
)


class ClaimJson(TypedDict):
    where: str
    claim: str
    agrees: bool


class Cell(TypedDict):
    collective: str
    procs: int
    bytes: int
    algorithm: str
    seconds: float


class Result(TypedDict):
    study: str
    source: str
    claims: list[ClaimJson]
    cells: list[Cell]


def run(simulate: Simulate) -> Result:
    platform = platforms.load_platform("chic")
    cases = [
        Case(
            collective,
            spec,
            procs,
            SIZES if procs in ANY_SIZE_AT else (SMALL, LARGE),
            platform,
            "cyclic",
            balanced(procs),
        )
        for collective, specs in GATHERS.items()
        for procs in PROCS
        for spec in specs
        if is_able(collective, spec, procs)
    ]
    times: Times = {}
    for case, runs in zip(cases, simulate(cases), strict=True):
        for size, (found,) in zip(case.sizes, runs, strict=True):
            # The source's metric is the slowest rank's time.
            times[case.collective, case.procs, size, case.spec] = found["seconds"]
    return {
        "study": "scatter-gather",
        "source": "Viertel 2007, chapter 7",
        "claims": [{"where": c.where, "claim": c.text, "agrees": c.holds(times)} for c in CLAIMS],
        "cells": [
            {"collective": name, "procs": procs, "bytes": size, "algorithm": spec, "seconds": time}
            for (name, procs, size, spec), time in times.items()
        ],
    }


def tables(result: Result) -> list[Table]:
    table = console.table(
        "Statements of the source, and whether the simulation agrees", "where", "claim", "simulated"
    )
    for row in result["claims"]:
        table.add_row(row["where"], row["claim"], "agrees" if row["agrees"] else "does not")
    return [table]


def sentences(result: Result) -> list[str]:
    agreed = sum(row["agrees"] for row in result["claims"])
    return [f"{agreed} of {len(result['claims'])} statements hold in the simulation."]


def draw(result: Result) -> "Figure":
    from convene.studies import figures  # slow import of Matplotlib

    panels = []
    for collective in ("gather", "allgather"):
        own = [cell for cell in result["cells"] if cell["collective"] == collective]
        for size in (SMALL, LARGE):
            title = f"{collective}, {bytes_text(size)} a block"
            panels.append((title, "nodes", lines([c for c in own if c["bytes"] == size], "procs")))
        panels.append(
            (f"{collective}, 28 nodes", "bytes", lines([c for c in own if c["procs"] == 28], "bytes"))
        )
    return figures.curves(panels)


def lines(cells: list[Cell], key: Literal["procs", "bytes"]) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for cell in cells:
        found.setdefault(cell["algorithm"], []).append((cell[key], cell["seconds"]))
    return found


STUDY = Study(
    "scatter-gather", "scatter, gather and allgather on CHiC (Viertel 2007)", run, tables, sentences, draw
)
