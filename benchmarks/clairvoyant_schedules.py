# SPDX-License-Identifier: BSD-3-Clause
"""How long Clairvoyant takes to find its transfers, and how that grows with processes times segments.

Runs the Google Benchmark program that the build makes of clairvoyant.cpp. Writes a summary (JSON), a table
(Markdown) and a plot (SVG)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from convene.plots import compact_svg

from benchmarks import common

matplotlib.use("svg")

KINDS = {"balanced": "all at once", "one_late": "one late", "random": "random arrivals"}
IN_TABLE = ((128, 16), (128, 512), (512, 16), (512, 512))  # processes, segments


def measure(repetitions: int) -> list[dict[str, Any]]:
    """One row a pattern, number of processes and number of segments: the median time in ms."""
    entries = common.run_google(
        "clairvoyant",
        "--benchmark_filter=^transfers/",
        f"--benchmark_repetitions={repetitions}",
        "--benchmark_min_time=0.02",
        "--benchmark_enable_random_interleaving=true",
    )
    units = {"ns": 1e-6, "us": 1e-3, "ms": 1.0}
    return [
        {
            "arrivals": entry["run_name"].split("/")[1],
            "procs": int(entry["procs"]),
            "segments": int(entry["segments"]),
            "rounds": int(entry["rounds"]),
            "milliseconds": entry["cpu_time"] * units[entry["time_unit"]],
        }
        for entry in entries
        if entry.get("aggregate_name") == "median"
    ]


def table(rows: Iterable[dict[str, Any]]) -> str:
    times = {(row["arrivals"], row["procs"], row["segments"]): row["milliseconds"] for row in rows}
    head = "".join(f" P = {procs}, N = {segments} |" for procs, segments in IN_TABLE)
    lines = [f"| |{head}", "|---|" + "---:|" * len(IN_TABLE)]
    for kind, words in KINDS.items():
        cells = "".join(f" {times[kind, *size]:.3f} ms |" for size in IN_TABLE)
        lines.append(f"| {words} |{cells}")
    return "\n".join(lines) + "\n"


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Time over processes times segments; the dashed line is growth in proportion."""
    plt.rcParams["svg.hashsalt"] = "convene"
    figure, axes = plt.subplots(figsize=(6, 4.5))
    for kind, words in KINDS.items():
        mine = [row for row in rows if row["arrivals"] == kind]
        axes.loglog(
            [row["procs"] * row["segments"] for row in mine],
            [row["milliseconds"] for row in mine],
            "o",
            markersize=4,
            label=words,
        )
    most = max(row["procs"] * row["segments"] for row in rows)
    slowest = max(row["milliseconds"] for row in rows if row["arrivals"] == "balanced")
    axes.loglog(
        [64, most], [slowest * 64 / most, slowest], "--", color="grey", label="in proportion to P · N"
    )
    axes.set_xlabel("processes · segments")
    axes.set_ylabel("time to find all transfers, ms")
    axes.legend()
    axes.grid(which="major", alpha=0.3)
    figure.tight_layout()
    compact_svg.save(figure, path)


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--repetitions", type=int, default=9, help="(default: %(default)s)")
    options = parser.parse_args()
    rows = measure(options.repetitions)
    common.keep(options, "clairvoyant", {"plans": rows})


REPORT = common.Report(
    lambda result: table(result["plans"]), lambda result, path: plot(result["plans"], path)
)


if __name__ == "__main__":
    common.run(main)
