# SPDX-License-Identifier: BSD-3-Clause
"""Scatter, gather and allgather (Viertel 2007, chapter 7), measured: the source's statements."""

from collections.abc import Callable
from dataclasses import dataclass

from convene.base.result_types import Measurement
from convene.bench import metrics
from convene.bench.summary import Case, cases
from convene.studies.measured import Part, Results, Study, fixed, median
from convene.studies.scatter_gather.experiment import (
    ALLGATHERS,
    BRUCK,
    DOUBLING,
    LINEAR,
    PORTS,
    PROCS,
    RING,
    TIE,
    TREE,
)

METRIC = "nbcbench"
WIDE = "nway_binomial"  # with its default, a fanout of 3
TREES = (LINEAR, TREE, WIDE)
GATHERS = {"gather": TREES, "scatter": TREES, "allgather": ALLGATHERS}
Times = dict[str, dict[Case, dict[str, float]]]  # by collective


@dataclass(frozen=True)
class Claim:
    where: str
    text: str
    collective: str
    holds: Callable[[Case, dict[str, float]], bool | None]  # of a case; None if it does not apply


def of_sizes(
    small: bool, holds: Callable[[dict[str, float]], bool], least: int = 2
) -> Callable[[Case, dict[str, float]], bool | None]:
    """A statement on small (below 4 KiB) or large blocks, with a minimum number of ranks."""

    def look(case: Case, times: dict[str, float]) -> bool | None:
        if (case.size < 4096) != small or case.procs < least:
            return None
        return holds(times)

    return look


def is_best(times: dict[str, float], name: str) -> bool:
    return name in times and times[name] <= TIE * min(times.values())


CLAIMS = (
    Claim(
        "figure 7.1",
        "gather, small: the n-way binomial tree is the best on more nodes",
        "gather",
        of_sizes(True, lambda t: is_best(t, TREE) or is_best(t, WIDE), least=6),
    ),
    Claim(
        "figure 7.1",
        "gather, small: a fanout of 3 is better than one of 1",
        "gather",
        of_sizes(True, lambda t: t[WIDE] <= t[TREE], least=4),
    ),
    Claim(
        "figure 7.1",
        "gather, large: linear is the best",
        "gather",
        of_sizes(False, lambda t: is_best(t, LINEAR)),
    ),
    Claim(
        "section 7.2",
        "scatter, large: linear is the best, as in gather",
        "scatter",
        of_sizes(False, lambda t: is_best(t, LINEAR)),
    ),
    Claim(
        "figure 7.4",
        "allgather, small: Bruck or recursive doubling is the best",
        "allgather",
        of_sizes(True, lambda t: is_best(t, BRUCK) or is_best(t, DOUBLING), least=3),
    ),
    Claim(
        "figure 7.4",
        "allgather, small: three ports make Bruck slower",
        "allgather",
        of_sizes(True, lambda t: t[PORTS] > t[BRUCK], least=4),
    ),
    Claim(
        "figure 7.4",
        "allgather, large: the modified ring or recursive doubling is the best",
        "allgather",
        of_sizes(False, lambda t: is_best(t, RING) or is_best(t, DOUBLING)),
    ),
    Claim(
        "figure 7.5",
        "allgather: below 4 KiB Bruck is better than the modified ring",
        "allgather",
        of_sizes(True, lambda t: t[BRUCK] < t[RING], least=4),
    ),
)


def part(collective: str, full: bool) -> Part:
    return Part(
        collective,
        PROCS if full else (2, 4, 6, 8),
        fixed("4:1MiB" if full else "4,128,4KiB,32KiB"),
        GATHERS[collective],
        METRIC,
    )


def medians(result: Measurement) -> dict[Case, dict[str, float]]:
    """Names with parameters: an algorithm occurs with two values."""
    chosen = metrics.METRICS[METRIC]
    found = {}
    for case, cell in cases(result).items():
        names = [contender["name"] for contender in cell["contenders"]]
        values = median(metrics.values(cell, chosen))
        found[case] = {name: float(value) for name, value in zip(names, values, strict=True)}
    return found


@dataclass(frozen=True)
class Row:
    where: str
    claim: str
    cases: int
    holds_in: int
    agrees: bool | None  # None: no case that the claim is about


def judge(results: Results) -> list[Row]:
    times = {collective: medians(result) for collective, result in results.items()}
    rows = []
    for claim in CLAIMS:
        answers = [claim.holds(case, found) for case, found in times.get(claim.collective, {}).items()]
        counted = [answer for answer in answers if answer is not None]
        rows.append(
            Row(
                claim.where,
                claim.text,
                cases=len(counted),
                holds_in=sum(counted),
                agrees=2 * sum(counted) > len(counted) if counted else None,
            )
        )
    return rows


COLUMNS: dict[str, Callable[[Row], str]] = {
    "published": lambda row: row.where,
    "what it says": lambda row: row.claim,
    "holds here in": lambda row: f"{row.holds_in} of {row.cases} cases",
}


def sentences(rows: list[Row]) -> list[str]:
    known = [row for row in rows if row.agrees is not None]
    wrong = [row.claim for row in known if not row.agrees]
    rest = f"; what does not: {'; '.join(wrong)}" if wrong else ""
    return [
        f"{len(known) - len(wrong)} of {len(known)} statements of the source hold here in most cases{rest}. "
        "The source has one rank a node and a network adapter that works while processors do; ranks that "
        "share cores have neither."
    ]


STUDY = Study(
    "scatter-gather",
    "scatter, gather and allgather (Viertel 2007)",
    "Viertel 2007, chapter 7",
    "CHiC, up to 32 nodes, InfiniBand",
    lambda full: [part(collective, full) for collective in GATHERS],
    judge,
    COLUMNS,
    sentences,
)
