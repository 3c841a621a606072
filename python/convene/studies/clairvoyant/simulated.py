# SPDX-License-Identifier: BSD-3-Clause
"""Clairvoyant's experiment: reductions with one late rank on 128 nodes of Curie (Marendic et al. 2016,
sections 6.3, 7)."""

from typing import TYPE_CHECKING, Final, TypedDict

from rich.table import Table

from convene.base import console
from convene.base.core_types import Simulated
from convene.base.text import bytes_text, seconds_text
from convene.simulate import cases, platforms
from convene.studies.clairvoyant import atomic as clairvoyant_atomic
from convene.studies.clairvoyant.experiment import (
    ABSORPTION,
    ABSORPTION_BY_MODEL,
    AT_4_MIB,
    BASELINES,
    MIB,
    PROCS,
    SEGMENTS,
    SIZES,
)
from convene.studies.clairvoyant.experiment import (
    CLAIRVOYANT as OWN,
)
from convene.studies.simulated import Simulate, Study, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LATE = PROCS - 1
TRIED = (2, 4, 8, 16, 32, 40, 64, 80, 128)  # numbers of segments
IMBALANCES = tuple(i / 2 for i in range(11))  # in run times of Clairvoyant
NAMES = (OWN, *BASELINES)
SPECS = {"radix_k": "radix_k;radix=8", "pipeline": "pipeline;segments=128"}


def case(
    platform: platforms.Platform, spec: str, size: int, late: float = 0.0, rounds: int = 0
) -> cases.Case:
    """`rounds`: what Clairvoyant expects rank P - 1 to be late by."""
    arrivals = tuple(late if rank == LATE else 0.0 for rank in range(PROCS))
    forecast = tuple(rounds if rank == LATE else 0 for rank in range(PROCS))
    return cases.Case(
        "reduce",
        spec,
        PROCS,
        (size,),
        platform,
        "cyclic",
        (arrivals,),
        forecasts=(forecast,) if rounds else (),
    )


def spec_of(name: str, size: int) -> str:
    return f"{OWN};segments={SEGMENTS[size]}" if name == OWN else SPECS.get(name, name)


def seconds(results: list[list[list[Simulated]]]) -> list[float]:
    return [result[0][0]["seconds"] for result in results]


LEADS: Final = ("lead_balanced", "least_lead", "highest_lead", "possible_lead")


class Cell(TypedDict):
    """One size and imbalance, the latter in balanced run times of Clairvoyant; the rest by algorithm."""

    bytes: int
    imbalance: float
    delay: float
    lower_bound: float  # seconds: no algorithm is faster
    seconds: dict[str, float]
    absorption: dict[str, float]


class Balanced(TypedDict):
    bytes: int
    algorithm: str
    seconds: float


class Segments(TypedDict):
    bytes: int
    published: int
    best: int
    seconds: dict[str, float]


class Summary(TypedDict):
    bytes: int
    cells: int
    won: int
    lead_balanced: float
    least_lead: float
    highest_lead: float
    possible_lead: float  # the highest of an algorithm that reaches the lower bound
    next: str
    absorption: float
    others: float


class Result(TypedDict):
    study: str
    source: str
    cells: list[Cell]
    balanced: list[Balanced]
    segments: list[Segments]
    summary: list[Summary]
    atomic: clairvoyant_atomic.Result


def run(simulate: Simulate) -> Result:
    platform = platforms.load_platform("curie")
    even = [(name, size) for size in SIZES for name in (*NAMES, "pipeline", "local_redirect")]
    simulated = simulate([case(platform, spec_of(name, size), size) for name, size in even])
    alone = dict(zip(even, seconds(simulated), strict=True))
    segments = run_segments(simulate, platform)
    cells = run_late(simulate, platform, alone)
    return {
        "study": "clairvoyant",
        "source": "Marendic et al. 2016, figures 12 and 13, tables 4 and 8",
        "cells": cells,
        "balanced": [
            {"bytes": size, "algorithm": name, "seconds": time} for (name, size), time in alone.items()
        ],
        "segments": segments,
        "summary": [summarize(size, cells) for size in SIZES],
        "atomic": clairvoyant_atomic.run(simulate, platform),
    }


def run_segments(simulate: Simulate, platform: platforms.Platform) -> list[Segments]:
    """Clairvoyant with several numbers of segments, balanced arrivals."""
    tried = [(size, number) for size in SIZES for number in TRIED]
    simulated = simulate([case(platform, f"{OWN};segments={number}", size) for size, number in tried])
    times = dict(zip(tried, seconds(simulated), strict=True))
    return [
        {
            "bytes": size,
            "published": SEGMENTS[size],
            "best": min(TRIED, key=lambda number: times[size, number]),
            "seconds": {str(number): times[size, number] for number in TRIED},
        }
        for size in SIZES
    ]


def run_late(
    simulate: Simulate, platform: platforms.Platform, alone: dict[tuple[str, int], float]
) -> list[Cell]:
    """All with rank P - 1 late; `alone`: their balanced run times."""
    points = [(size, factor, name) for size in SIZES for factor in IMBALANCES for name in NAMES]
    late = []
    for size, factor, name in points:
        delay = factor * alone[OWN, size]
        # A round of Clairvoyant: its balanced run time over the rounds of its balanced schedule.
        tick = alone[OWN, size] / (PROCS.bit_length() - 1 + SEGMENTS[size] - 1)
        rounds = int(delay / tick) if name == OWN else 0
        late.append(case(platform, spec_of(name, size), size, delay, rounds))
    simulated = simulate(late)
    times = dict(zip(points, seconds(simulated), strict=True))
    bounds = dict(zip(points, (result[0][0]["seconds_bound"] for result in simulated), strict=True))
    return [
        {
            "bytes": size,
            "imbalance": factor,  # in balanced run times of Clairvoyant
            "delay": factor * alone[OWN, size],
            "lower_bound": bounds[size, factor, OWN],
            "seconds": {name: times[size, factor, name] for name in NAMES},
            "absorption": {
                name: absorption(alone[name, size], times[size, factor, name], factor * alone[OWN, size])
                for name in NAMES
            },
        }
        for size in SIZES
        for factor in IMBALANCES
    ]


def absorption(even: float, late: float, imbalance: float) -> float:
    """Normalised (section 3.1): the part of its balanced run time that an algorithm hid behind the late
    rank."""
    return (even - late + imbalance) / even


def summarize(size: int, cells: list[Cell]) -> Summary:
    own = [cell for cell in cells if cell["bytes"] == size]
    others = [min(time for name, time in cell["seconds"].items() if name != OWN) for cell in own]
    ratios = [other / cell["seconds"][OWN] for other, cell in zip(others, own, strict=True)]
    next_best = min((name for name in BASELINES), key=lambda name: own[0]["seconds"][name])
    return {
        "bytes": size,
        "cells": len(own),
        "won": sum(ratio > 1 for ratio in ratios),
        "lead_balanced": ratios[0],
        "least_lead": min(ratios),
        "highest_lead": max(ratios),
        "possible_lead": max(
            other / cell["lower_bound"] for other, cell in zip(others[1:], own[1:], strict=True)
        ),
        "next": next_best,
        "absorption": max(cell["absorption"][OWN] for cell in own),
        "others": max(cell["absorption"][name] for cell in own for name in BASELINES),
    }


def tables(result: Result) -> list[Table]:
    heads = (
        "won",
        "lead, balanced",
        "least",
        "highest",
        "possible, late",
        "absorbs",
        "others, most",
        "best N",
        "published N",
    )
    wins = console.table(
        "Clairvoyant against binomial, butterfly, parallel ring and radix-k, rank 127 late by 0 … 5 of its "
        "run times: lead = the next best's time over its own; possible, late = the highest lead over them by "
        "an algorithm that reaches the lower bound, with a late rank; absorbs = the most normalised "
        "absorption",
        "bytes",
        *heads[:5],
        "next best",
        *heads[5:],
        numbers=("bytes", *heads),
        optional=("least", "others, most", "absorbs", "lead, balanced"),
    )
    for row, segments in zip(result["summary"], result["segments"], strict=True):
        wins.add_row(
            bytes_text(row["bytes"]),
            f"{row['won']} of {row['cells']}",
            *(f"{row[lead]:.2f}" for lead in LEADS),
            row["next"],
            percent(100 * row["absorption"], 0),
            percent(100 * row["others"], 0),
            str(segments["best"]),
            str(segments["published"]),
        )
    times = console.table(
        "4 MiB, balanced, compared with table 4",
        "algorithm",
        "simulated",
        "published",
        numbers=("simulated", "published"),
    )
    simulated = {row["algorithm"]: row["seconds"] for row in result["balanced"] if row["bytes"] == 4 * MIB}
    for name, time in sorted(simulated.items(), key=lambda entry: entry[1]):
        times.add_row(name, seconds_text(time), f"{AT_4_MIB[name]:g} ms" if name in AT_4_MIB else "")
    return [wins, times, clairvoyant_atomic.table(result["atomic"])]


def sentences(result: Result) -> list[str]:
    rows = result["summary"]
    won, cells = sum(row["won"] for row in rows), sum(row["cells"] for row in rows)
    largest = rows[-1]
    kept = sum(keeps_order(result["cells"], size) for size in SIZES)
    return [
        f"Clairvoyant is the fastest in {won} of {cells} cells; published: in all. Its lead is at most "
        f"{max(row['highest_lead'] for row in rows):.2f}; published: nearly 2. With a late "
        f"rank no algorithm could lead by more than {max(row['possible_lead'] for row in rows):.2f} here.",
        f"The order for balanced arrivals holds under every imbalance for {kept} of {len(SIZES)} sizes; "
        "published: for 4 (at 4 MiB parallel ring and radix-k change places).",
        f"At 40 MiB it absorbs up to {100 * largest['absorption']:.0f} % of its balanced run time; "
        f"published: {ABSORPTION[40 * MIB]:g} %, and {ABSORPTION_BY_MODEL:g} % by the linear model.",
        clairvoyant_atomic.sentence(result["atomic"]),
    ]


def keeps_order(cells: list[Cell], size: int) -> bool:
    orders = {
        tuple(sorted(cell["seconds"], key=lambda name: cell["seconds"][name]))
        for cell in cells
        if cell["bytes"] == size
    }
    return len(orders) == 1


def draw(result: Result) -> "Figure":
    from convene.studies import figures  # slow import of Matplotlib

    panels = []
    for size in SIZES:
        own = [cell for cell in result["cells"] if cell["bytes"] == size]
        lines = {
            name: [cell["seconds"][name] / cell["seconds"][OWN] for cell in own] for name in own[0]["seconds"]
        }
        hidden = {name: [100 * cell["absorption"][name] for cell in own] for name in own[0]["absorption"]}
        at = [cell["imbalance"] for cell in own]
        panels.append((bytes_text(size), at, lines, hidden))
    times = {
        row["algorithm"]: (1e3 * row["seconds"], AT_4_MIB.get(row["algorithm"]))
        for row in result["balanced"]
        if row["bytes"] == 4 * MIB
    }
    return figures.clairvoyant(panels, times, "4 MiB, balanced (table 4)")


STUDY = Study(
    "clairvoyant", "reductions with a late rank on Curie (Marendic et al. 2016)", run, tables, sentences, draw
)
