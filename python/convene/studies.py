# SPDX-License-Identifier: BSD-3-Clause
"""The sources' experiments in simulation, beside what they published."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from convene import _core, console, simulation

Play = Callable[[list[simulation.Case]], list[Any]]

SPARBIT = "sparbit"
MAPPINGS = ("sequential", "cyclic")
UNITED = "united"

# Loch 2021, section 6.1.3: Sparbit with a message a block against the four algorithms of Open MPI.
RIVALS = ("ring", "neighbor_exchange", "recursive_doubling", "bruck")
SIZES = tuple(1 << power for power in range(21))
# Two arithmetic progressions in steps of 8, from 5 and from 8.
PROCS = {
    "yahoo": sorted([*range(5, 254, 8), *range(8, 257, 8)]),
    "cervino": sorted([*range(5, 318, 8), *range(8, 321, 8)]),
}

# Loch 2021, tables 6 and 7, average time: best in, mean gain, highest gain, in percent.
PUBLISHED = {
    ("yahoo", "sequential"): (46.43, 34.7, 84.16),
    ("yahoo", "cyclic"): (19.12, 14.89, 31.07),
    ("yahoo", UNITED): (44.49, 19.78, 65.37),
    ("cervino", "sequential"): (39.64, 30.23, 77.78),
    ("cervino", "cyclic"): (30.83, 9.6, 44.12),
    ("cervino", UNITED): (38.04, 27.94, 73.9),
}

Times = dict[tuple[str, str], float]  # by mapping and algorithm, in one cell


def sparbit_cases() -> list[simulation.Case]:
    cases = []
    for name, numbers in PROCS.items():
        platform = simulation.load_platform(name)
        for procs in numbers:
            specs = [spec for spec in (SPARBIT, *RIVALS) if not _core.unmet("allgather", spec, procs)]
            arrivals = ((0.0,) * procs,)
            cases += [
                simulation.Case("allgather", spec, procs, SIZES, platform, mapping, arrivals)
                for mapping in MAPPINGS
                for spec in specs
            ]
    return cases


def gains(cells: Sequence[Times], mappings: Sequence[str]) -> list[float]:
    """By cell in which Sparbit is the best: 1 - t/t2, t2 the best time of all others."""
    result = []
    for times in cells:
        counted = [(name, time) for (mapping, name), time in times.items() if mapping in mappings]
        own = min(time for name, time in counted if name == SPARBIT)
        other = min(
            time for (mapping, name), time in times.items() if name != SPARBIT and mapping in mappings
        )
        if own < other:
            result.append(1 - own / other)
    return result


def run_sparbit(play: Play) -> dict[str, Any]:
    cases = sparbit_cases()
    cells: dict[tuple[str, int, int], Times] = {}
    for case, runs in zip(cases, play(cases), strict=True):
        for size, (run,) in zip(case.sizes, runs, strict=True):
            times = cells.setdefault((case.platform.name, case.procs, size), {})
            times[case.mapping, case.spec] = run["mean"]  # the average time is over ranks
    return {
        "study": SPARBIT,
        "source": "Loch 2021, tables 6 and 7, average time",
        "summary": [summarize(platform, mapping, cells) for platform, mapping in PUBLISHED],
        "cells": [
            {
                "platform": platform,
                "procs": procs,
                "bytes": size,
                **{
                    mapping: {name: t for (m, name), t in times.items() if m == mapping}
                    for mapping in MAPPINGS
                },
            }
            for (platform, procs, size), times in cells.items()
        ],
    }


def summarize(platform: str, mapping: str, cells: dict[tuple[str, int, int], Times]) -> dict[str, Any]:
    own = [times for (name, _, _), times in cells.items() if name == platform]
    won = gains(own, MAPPINGS if mapping == UNITED else (mapping,))
    best, gain, highest = PUBLISHED[platform, mapping]
    return {
        "platform": platform,
        "mapping": mapping,
        "cells": len(own),
        "best": 100 * len(won) / len(own),
        "gain": 100 * mean(won) if won else 0.0,
        "highest": 100 * max(won, default=0.0),
        "published": {"best": best, "gain": gain, "highest": highest},
    }


def print_sparbit(result: dict[str, Any]) -> None:
    names = ("best in", "published", "mean gain", "published", "highest gain", "published")
    table = console.table(
        "Sparbit against ring, neighbor exchange, recursive doubling and Bruck: simulated, and as published",
        "platform",
        "mapping",
        "cells",
        *names,
        numbers=("cells", *names),
    )
    for row in result["summary"]:
        values = [f"{of[key]:.1f} %" for key in ("best", "gain", "highest") for of in (row, row["published"])]
        table.add_row(row["platform"], row["mapping"], str(row["cells"]), *values)
    console.make().print(table)


@dataclass(frozen=True)
class Study:
    run: Callable[[Play], dict[str, Any]]
    print: Callable[[dict[str, Any]], None]


STUDIES = {SPARBIT: Study(run_sparbit, print_sparbit)}
