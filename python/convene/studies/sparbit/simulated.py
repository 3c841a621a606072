# SPDX-License-Identifier: BSD-3-Clause
"""The Sparbit work's experiments: allgather on Yahoo and Cervino, allgatherv with five distributions of
sizes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any, TypedDict

from rich.table import Table

from convene.base import console
from convene.simulate import platforms
from convene.simulate.cases import Case
from convene.studies.simulated import Simulate, Study, balanced, gain, is_able, percent
from convene.studies.sparbit import experiment
from convene.studies.sparbit.experiment import (
    BASELINES,
    BASELINES_OF_V,
    NEAR,
    PROCS,
    PROCS_OF_V,
    SPARBIT,
    UNITED,
    Shares,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MAPPINGS = ("sequential", "cyclic")
SIZES = tuple(1 << power for power in range(21))
MACHINES_OF_V = 4


Times = dict[tuple[str, str], float]  # by mapping and algorithm, in one cell
Cells = dict[tuple[str, int, int], Times]  # by platform or distribution, processes and size


def blocks(distribution: str, procs: int, size: int) -> list[int]:
    """Each rank's block in bytes, around a mean of `size` (Loch 2021, section 6.1.3)."""
    match distribution:
        case "broadcast":
            return [size] + [0] * (procs - 1)
        case "spike":
            return [procs * size] + [procs * size // (procs - 1)] * (procs - 1)
        case "half_full":
            return [2 * size if rank % 2 == 0 else 0 for rank in range(procs)]
        case "linear":
            return [2 * size * (procs - 1 - rank) // (procs - 1) for rank in range(procs)]
        case "geometric":
            return [int(procs * size / ((rank + 1.5) * math.log(procs))) for rank in range(procs)]
    raise ValueError(distribution)


def cases_of(
    collective: str,
    platform: platforms.Platform,
    numbers: Iterable[int],
    baselines: Sequence[str],
    unequal: str = "",
) -> list[Case]:
    return [
        Case(
            collective,
            spec,
            procs,
            SIZES,
            platform,
            mapping,
            balanced(procs),
            blocks=tuple(tuple(blocks(unequal, procs, size)) for size in SIZES) if unequal else (),
        )
        for procs in numbers
        for mapping in MAPPINGS
        for spec in (SPARBIT, *baselines)
        if is_able(collective, spec, procs)
    ]


def gather_cells(names: Sequence[str], cases: Sequence[Case], results: Sequence[Any]) -> Cells:
    """`names`: each case's platform or distribution. The average time is over ranks."""
    cells: Cells = {}
    for name, case, runs in zip(names, cases, results, strict=True):
        for size, (run,) in zip(case.sizes, runs, strict=True):
            cells.setdefault((name, case.procs, size), {})[case.mapping, case.spec] = run["mean"]
    return cells


def gains(cells: Sequence[Times], mappings: Sequence[str]) -> list[float]:
    """By cell in which Sparbit is the best: 1 - t/t2, t2 the best time of all others."""
    result = []
    for times in cells:
        counted = {key: time for key, time in times.items() if key[0] in mappings}
        own = min(time for (_, name), time in counted.items() if name == SPARBIT)
        other = min(time for (_, name), time in counted.items() if name != SPARBIT)
        if own < other:
            result.append(gain(own, other))
    return result


class PublishedShares(TypedDict):
    best: float | None
    gain: float | None
    highest: float | None


class Summary(TypedDict):
    """One platform or distribution, and mapping; shares and gains in percent."""

    name: str
    mapping: str
    cells: int
    best: float
    gain: float
    highest: float
    published: PublishedShares


CellJson = Mapping[str, Any]  # platform or distribution, procs, bytes, and by mapping the times


class Result(TypedDict):
    study: str
    source: str
    summary: list[Summary]
    cells: list[CellJson]


def published_json(found: Shares | None) -> PublishedShares:
    if found is None:
        return {"best": None, "gain": None, "highest": None}
    return {"best": found.best, "gain": found.gain, "highest": found.highest}


def summarize(name: str, mapping: str, cells: Cells, found: Shares | None) -> Summary:
    own = [times for (where, _, _), times in cells.items() if where == name]
    won = gains(own, MAPPINGS if mapping == UNITED else (mapping,))
    return {
        "name": name,
        "mapping": mapping,
        "cells": len(own),
        "best": 100 * len(won) / len(own),
        "gain": 100 * mean(won) if won else 0.0,
        "highest": 100 * max(won, default=0.0),
        "published": published_json(found),
    }


def cells_json(cells: Cells, key: str) -> list[CellJson]:
    return [
        {
            key: name,
            "procs": procs,
            "bytes": size,
            **{mapping: {spec: t for (m, spec), t in times.items() if m == mapping} for mapping in MAPPINGS},
        }
        for (name, procs, size), times in cells.items()
    ]


def run_allgather(simulate: Simulate) -> Result:
    cases = [
        case
        for name, numbers in PROCS.items()
        for case in cases_of("allgather", platforms.load_platform(name), numbers, BASELINES)
    ]
    cells = gather_cells([case.platform.name for case in cases], cases, simulate(cases))
    return {
        "study": "sparbit",
        "source": "Loch 2021, tables 6 and 7, average time",
        "summary": [summarize(*key, cells, shares) for key, shares in experiment.ALLGATHER.items()],
        "cells": cells_json(cells, "platform"),
    }


def published_of_v(name: str, mapping: str) -> Shares | None:
    if mapping == UNITED:
        return experiment.ALLGATHERV[name]
    return experiment.ALLGATHERV_SEQUENTIAL.get(name) if mapping == "sequential" else None


def run_allgatherv(simulate: Simulate) -> Result:
    platform = platforms.load_platform("cervino").with_nodes(MACHINES_OF_V)
    names, cases = [], []
    for distribution in experiment.ALLGATHERV:
        found = cases_of("allgatherv", platform, PROCS_OF_V, BASELINES_OF_V, distribution)
        names += [distribution] * len(found)
        cases += found
    cells = gather_cells(names, cases, simulate(cases))
    summary = [
        summarize(name, mapping, cells, published_of_v(name, mapping))
        for name in experiment.ALLGATHERV
        for mapping in (UNITED, *MAPPINGS)
    ]
    return {
        "study": "allgatherv",
        "source": "Loch 2021, table 8, average time, mappings united",
        "summary": summary,
        "cells": cells_json(cells, "distribution"),
    }


def tables(result: Result) -> list[Table]:
    heads = ("best in", "published", "mean gain", "published", "highest gain", "published")
    baselines = BASELINES if result["study"] == "sparbit" else BASELINES_OF_V
    table = console.table(
        f"Sparbit against {', '.join(baselines)}: simulated, and as published ({result['source']})",
        "platform" if result["study"] == "sparbit" else "blocks",
        "mapping",
        "cells",
        *heads,
        numbers=("cells", *heads),
        optional=("cells",),
        keys=2,
    )
    for row in result["summary"]:
        there = row["published"]
        values = [
            percent(value)
            for pair in (
                (row["best"], there["best"]),
                (row["gain"], there["gain"]),
                (row["highest"], there["highest"]),
            )
            for value in pair
        ]
        table.add_row(row["name"], row["mapping"], str(row["cells"]), *values)
    return [table]


def sentences(result: Result) -> list[str]:
    known = [(row, best) for row in result["summary"] if (best := row["published"]["best"]) is not None]
    near = [row for row, best in known if abs(row["best"] - best) <= NEAR]
    here = sorted((row for row, _ in known), key=lambda row: -row["best"])
    there = [row for row, _ in sorted(known, key=lambda pair: -pair[1])]
    return [
        f"Share of best cases within {NEAR} points of the published one: {names(near)}. Farther off: "
        f"{names([row for row, _ in known if row not in near])}.",
        f"From the most to the least, simulated: {names(here)}; published: {names(there)}.",
    ]


def names(rows: list[Summary]) -> str:
    return ", ".join(f"{row['name']} {row['mapping']}" for row in rows) or "none"


def draw(result: Result) -> "Figure":
    """The hybrid heat map: the best algorithm's colour if it is not Sparbit, otherwise Sparbit's gain in
    grey."""
    from convene.studies import figures  # slow import of Matplotlib

    key = "platform" if result["study"] == "sparbit" else "distribution"
    mappings = MAPPINGS if result["study"] == "sparbit" else (UNITED,)
    return figures.hybrid_maps(
        [
            (f"{name}, {mapping}", [winner(cell, mapping) for cell in result["cells"] if cell[key] == name])
            for name in dict.fromkeys(cell[key] for cell in result["cells"])
            for mapping in mappings
        ],
        SPARBIT,
        {
            f"{row['name']}, {row['mapping']}": (row["best"], row["published"]["best"])
            for row in result["summary"]
        },
    )


def winner(cell: CellJson, mapping: str) -> tuple[int, int, str, float]:
    """Processes, size, the best algorithm, and its gain over the best other one."""
    times: dict[str, float] = {}
    for each in MAPPINGS if mapping == UNITED else (mapping,):
        for spec, time in cell[each].items():
            times[spec] = min(time, times.get(spec, math.inf))
    best, second = sorted(times, key=lambda spec: times[spec])[:2]
    return cell["procs"], cell["bytes"], best, gain(times[best], times[second])


ALLGATHER = Study(
    "sparbit", "allgather on Yahoo and Cervino (Loch 2021)", run_allgather, tables, sentences, draw
)

ALLGATHERV = Study(
    "allgatherv",
    "five distributions of block sizes on Cervino (Loch 2021)",
    run_allgatherv,
    tables,
    sentences,
    draw,
)
