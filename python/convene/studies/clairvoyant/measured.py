# SPDX-License-Identifier: BSD-3-Clause
"""Clairvoyant's experiment: reductions with one late rank (Marendic et al. 2016, sections 6.3 and 7)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from convene.base.text import bytes_text
from convene.bench import requests
from convene.studies.clairvoyant.experiment import ABSORPTION, BASELINES, PROCS, SIZES
from convene.studies.measured import Part, Results, Study, means, percent

OWN = "clairvoyant@truth"
NO_FORECAST, WRONG_FORECAST = "clairvoyant", "clairvoyant@mirrored"
METRIC = "run_time"
DELAYS = ("200us", "1ms", "5ms")
FULL_DELAYS = ("50us", "200us", "500us", "1ms", "2ms", "5ms", "10ms", "20ms", "60ms")


def part(full: bool) -> Part:
    delays = FULL_DELAYS if full else DELAYS
    return Part(
        "reduce",
        (PROCS,) if full else (8,),  # patterns name the last rank: other numbers would not compare
        lambda procs: list(SIZES if full else SIZES[:3]),
        (OWN, NO_FORECAST, WRONG_FORECAST, *BASELINES),
        METRIC,
        arrivals=lambda procs: [f"late:{procs - 1}:{delay}" for delay in delays],
        type="int",
    )


def is_balanced(pattern: str) -> bool:
    return pattern == requests.BALANCED


def delay_of(pattern: str) -> float:
    number, unit = re.fullmatch(r"late:\d+:([\d.]+)(us|ms|s)", pattern).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


@dataclass(frozen=True)
class Published:
    won: int
    absorption: float | None


@dataclass(frozen=True)
class Row:
    """One number of ranks and size, over all delays. Absorption: the most, in percent."""

    procs: int
    bytes: int
    cases: int
    won: int
    best_balanced: str
    highest_lead: float
    absorption: float
    no_forecast: float
    wrong_forecast: float
    others: float
    keeps_order: bool
    published: Published


def judge(results: Results) -> list[Row]:
    found = means(results["reduce"], METRIC)
    rows = []
    for procs, size in dict.fromkeys((case.procs, case.size) for case in found):
        own = {c.arrivals: times for c, times in found.items() if (c.procs, c.size) == (procs, size)}
        even = own[requests.BALANCED]
        leads = [min(times[name] for name in BASELINES) / times[OWN] for times in own.values()]
        hidden = {
            name: max(
                (even[name] - times[name] + delay_of(at)) / even[name]
                for at, times in own.items()
                if not is_balanced(at)
            )
            for name in even
        }
        orders = {tuple(sorted((OWN, *BASELINES), key=lambda name: times[name])) for times in own.values()}
        rows.append(
            Row(
                procs=procs,
                bytes=size,
                cases=len(own),
                won=sum(lead > 1 for lead in leads),
                best_balanced=min((OWN, *BASELINES), key=lambda name: even[name]).partition("@")[0],
                highest_lead=max(leads),
                absorption=100 * hidden[OWN],
                no_forecast=100 * hidden[NO_FORECAST],
                wrong_forecast=100 * hidden[WRONG_FORECAST],
                others=100 * max(hidden[name] for name in BASELINES),
                keeps_order=len(orders) == 1,
                published=Published(len(own), ABSORPTION.get(size)),
            )
        )
    return rows


COLUMNS: dict[str, Callable[[Row], str]] = {
    "ranks": lambda row: str(row.procs),
    "bytes": lambda row: bytes_text(row.bytes),
    "best, all at once": lambda row: row.best_balanced,
    "Clairvoyant best": lambda row: f"{row.won} of {row.cases}",
    "published": lambda row: "all",
    "lead, at most": lambda row: f"{row.highest_lead:.2f}",
    "absorbs": lambda row: percent(row.absorption),
    "published ": lambda row: percent(row.published.absorption),
    "no forecast": lambda row: percent(row.no_forecast),
    "wrong one": lambda row: percent(row.wrong_forecast),
    "others absorb": lambda row: percent(row.others),
}


def sentences(rows: list[Row]) -> list[str]:
    won, cells = sum(row.won for row in rows), sum(row.cases for row in rows)
    kept = sum(row.keeps_order for row in rows)
    return [
        f"Clairvoyant is the fastest in {won} of {cells} cases, in the source in all of them; its lead is "
        f"at most {max(row.highest_lead for row in rows):.2f} here and nearly 2 there.",
        f"The order of the algorithms is the same under every delay for {kept} of {len(rows)} combinations "
        "of ranks and size, in the source for four of five sizes.",
        "Clairvoyant receives the true arrivals, as in the source. Further columns show its absorption "
        "without a forecast, and with a wrong one: the first rank late in place of the last.",
    ]


STUDY = Study(
    "clairvoyant",
    "reductions with one late rank (Marendic et al. 2016)",
    "Marendic et al. 2016, figures 12 and 13",
    "Curie, 128 nodes, InfiniBand QDR",
    lambda full: [part(full)],
    judge,
    COLUMNS,
    sentences,
)
