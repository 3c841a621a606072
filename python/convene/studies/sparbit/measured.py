# SPDX-License-Identifier: BSD-3-Clause
"""Sparbit against the algorithms of Open MPI of that time, by the average time of all ranks (Loch 2021)."""

from statistics import mean
from typing import Any

from convene.studies.measured import Part, Results, Rows, Study, fixed, means, percent

SPARBIT = "sparbit"
RIVALS = ("ring", "neighbor_exchange", "recursive_doubling", "bruck")
RIVALS_OF_V = ("ring", "neighbor_exchange", "bruck")
METRIC = "osu"

# Best in, mean gain and highest gain, in percent.
PUBLISHED = {"regular": (46.43, 34.7, 84.16)}  # table 6, Yahoo, sequential mapping

PUBLISHED_OF_V = {  # table 8
    "broadcast": (78.57, 56.82, 92.38),
    "spike": (25.0, 21.61, 73.26),
    "half_full": (18.9, 15.44, 51.71),
    "linear": (14.58, 17.86, 45.07),
    "geometric": (35.57, 28.37, 59.83),
}

NEAR = 10  # percentage points


def gains(result: dict[str, Any], distribution: str) -> list[float | None]:
    """By case: how much of the best other time Sparbit saves, nothing where it is not the best."""
    found = []
    for case, times in means(result, METRIC).items():
        if case.distribution != distribution:
            continue
        others = [time for name, time in times.items() if name != SPARBIT]
        gain = 1 - times[SPARBIT] / min(others)
        found.append(gain if gain > 0 else None)
    return found


def judge(results: Results, published: dict[str, tuple[float, float, float]]) -> Rows:
    (result,) = results.values()
    rows = []
    for distribution, (best, gain, highest) in published.items():
        by_case = gains(result, distribution)
        won = [each for each in by_case if each is not None]
        rows.append(
            {
                "distribution": distribution,
                "cases": len(by_case),
                "best": 100 * len(won) / len(by_case),
                "gain": 100 * mean(won) if won else None,
                "highest": 100 * max(won) if won else None,
                "published": {"best": best, "gain": gain, "highest": highest},
            }
        )
    return rows


COLUMNS = {
    "blocks": lambda row: row["distribution"],
    "cases": lambda row: str(row["cases"]),
    "best in": lambda row: percent(row["best"]),
    "published": lambda row: percent(row["published"]["best"]),
    "mean gain": lambda row: percent(row["gain"]),
    "published ": lambda row: percent(row["published"]["gain"]),
    "highest gain": lambda row: percent(row["highest"]),
    "published  ": lambda row: percent(row["published"]["highest"]),
}


def sentences(rows: Rows) -> list[str]:
    near = [row["distribution"] for row in rows if abs(row["best"] - row["published"]["best"]) <= NEAR]
    here = ", ".join(f"{row['best']:.0f} % ({row['distribution']})" for row in rows)
    there = ", ".join(f"{row['published']['best']:.0f} %" for row in rows)
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
            sorted([*range(5, 254, 8), *range(8, 257, 8)]) if full else range(3, 9),
            fixed("1:1MiB" if full else "1:1MiB:16"),
            (SPARBIT, *RIVALS),
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
            sorted([*range(9, 250, 16), *range(16, 257, 16)]) if full else (3, 4, 6, 8),
            fixed("1:1MiB" if full else "16:256KiB:16"),
            (SPARBIT, *RIVALS_OF_V),
            METRIC,
            distributions=tuple(PUBLISHED_OF_V),
        )
    ],
    lambda results: judge(results, PUBLISHED_OF_V),
    COLUMNS,
    sentences,
)
