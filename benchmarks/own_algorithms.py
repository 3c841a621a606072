# SPDX-License-Identifier: BSD-3-Clause
"""Convene's algorithms against those of the same name in Open MPI 5, side by side in one process.

Both of a pair run in the same program, on communicators of their own, one directly after the other in every
repetition: what else happens on the machine meets both. A pair's ratio is the median of the ratios within
repetitions. Writes a summary (JSON), tables (Markdown) and a figure (SVG), and every observation into
build/benchmarks/results.
"""

import argparse
import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from convene.base.text import bytes_text
from rich.progress import Progress

from benchmarks import common

mpl.use("svg")
from convene.base import console, parsing
from convene.base.result_types import MeasuredRun
from convene.bench import program, requests
from convene.catalogue import selection
from convene.mpi import settings
from convene.plots import compact_svg
from convene.stats.bootstrap import Array, Estimate, estimate, resample_medians
from matplotlib import pyplot as plt

# Convene's name and Open MPI's.
PAIRS = {
    "ring": "ring",
    "recursive_doubling": "recursive_doubling",
    "bruck": "bruck",
    "neighbor_exchange": "neighbor",
    "sparbit": "sparbit",
}

# What is aimed at.
MOST_MEAN, MOST_MEAN_SMALLEST, MOST_WORST = 1.00, 1.05, 1.15
CROWDED = (4, 8)  # the numbers of ranks to which the last one applies

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555")
MARKERS = "osD^v"


def rounded(value: float) -> float:
    """As many digits as mean something."""
    return float(f"{value:.5g}")


@dataclass(frozen=True)
class Cell:
    """One algorithm at one size and number of ranks: medians of both, and how they compare."""

    procs: int
    size: int
    algorithm: str
    observations: int
    convene: float
    openmpi: float
    ratio: Estimate  # the median of the ratios within repetitions
    samples: Array  # the ratio's bootstrap

    @property
    def ratio_of_medians(self) -> float:
        return self.convene / self.openmpi

    def as_json(self) -> dict[str, Any]:
        return {
            "procs": self.procs,
            "bytes": self.size,
            "algorithm": self.algorithm,
            "observations": self.observations,
            "convene": rounded(self.convene),
            "openmpi": rounded(self.openmpi),
            **{name: rounded(value) for name, value in self.ratio.as_json("ratio").items()},
            "ratio_of_medians": rounded(self.ratio_of_medians),
        }


def contenders() -> list[str]:
    return [name for own, other in PAIRS.items() for name in (selection.OWN + other, own)]


def measure(setting: settings.Setting, procs: list[int], options: argparse.Namespace) -> list[MeasuredRun]:
    """One result for each run; the numbers of ranks take turns."""
    output = console.make(error=True)
    results: list[MeasuredRun] = []
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        sizes = parsing.parse_sizes(options.sizes)
        task = progress.add_task("measuring", total=options.runs * len(procs) * len(sizes))
        for run in range(options.runs):
            for number in procs:
                request = requests.Request(
                    "allgather",
                    number,
                    sizes,
                    contenders(),
                    repetitions=options.repetitions,
                    seconds=options.seconds,
                    batch=options.batch * 1e-6,
                    group=2,
                    seed=run + 1,
                )
                start = len(results) * len(sizes)
                results.append(
                    program.measure(
                        setting,
                        request,
                        lambda done, _, start=start: progress.update(task, completed=start + done),  # type: ignore[misc]
                    )
                )
    return results


def observations(results: Iterable[MeasuredRun]) -> dict[tuple[int, int], dict[str, list[float]]]:
    """Seconds per call by contender, for each number of ranks and size; those of several runs together."""
    found: dict[tuple[int, int], dict[str, list[float]]] = {}
    for result in results:
        for size in result["sizes"]:
            own = found.setdefault((result["procs"], size["bytes"]), {})
            for contender in size["contenders"]:
                own.setdefault(contender["name"], []).extend(contender["seconds"])
    return found


def evaluate(results: Iterable[MeasuredRun]) -> list[Cell]:
    cells: list[Cell] = []
    for (procs, size), seconds in sorted(observations(results).items()):
        for algorithm, other in PAIRS.items():
            pair = np.array([seconds[algorithm], seconds[selection.OWN + other]])
            medians, ratios = np.median(pair, axis=1), pair[0] / pair[1]
            samples = resample_medians(ratios[np.newaxis], seed=len(cells) + 1)[0]
            cells.append(
                Cell(
                    procs,
                    size,
                    algorithm,
                    pair.shape[1],
                    float(medians[0]),
                    float(medians[1]),
                    estimate(np.median(ratios), samples),
                    samples,
                )
            )
    return cells


def geometric_mean(cells: Iterable[Cell]) -> Estimate:
    chosen = list(cells)
    mean = math.exp(float(np.mean([math.log(cell.ratio.value) for cell in chosen])))
    return estimate(mean, np.exp(np.mean([np.log(cell.samples) for cell in chosen], axis=0)))


def judge(cells: list[Cell]) -> dict[str, Any]:
    """The figures that the goals are about."""
    smallest = min(cell.size for cell in cells)
    crowded = [cell for cell in cells if cell.procs in CROWDED] or cells
    worst = max(crowded, key=lambda cell: cell.ratio.value)
    return {
        "overall": geometric_mean(cells).as_json("ratio"),
        "overall_of_medians": math.exp(float(np.mean([math.log(cell.ratio_of_medians) for cell in cells]))),
        "smallest": geometric_mean(cell for cell in cells if cell.size == smallest).as_json("ratio"),
        "smallest_bytes": smallest,
        "worst": worst.as_json(),
        "by_procs": {
            str(procs): geometric_mean(own).as_json("ratio")
            for procs, own in groupby(cells, key=lambda cell: cell.procs)
        },
        "by_algorithm": {
            name: geometric_mean(cell for cell in cells if cell.algorithm == name).as_json("ratio")
            for name in PAIRS
        },
    }


def number(ratio: dict[str, float]) -> str:
    return f"{ratio['ratio']:.3f} ({ratio['low']:.3f} … {ratio['high']:.3f})"


def circumstances(results: list[MeasuredRun]) -> str:
    environment = results[0]["environment"]
    loads = [float(size["load"][0].split()[0]) for result in results for size in result["sizes"]]
    counts = [len(c["seconds"]) for result in results for size in result["sizes"] for c in size["contenders"]]
    return (
        f"{environment['mpi'].split(',')[0]}, {environment['processor']}, {environment['cores']} cores, "
        f"{environment['started'][:10]}; {len(results)} runs, each with {min(counts)} to {max(counts)} "
        "observations of an algorithm at a size. The machine's load average before a size was "
        f"{min(loads):g} to {max(loads):g}, the benchmark's own ranks included."
    )


def markdown(result: dict[str, Any]) -> str:
    verdict, cells = result["verdict"], result["cells"]
    worst = verdict["worst"]
    lines = [
        result["about"],
        "",
        "| | ratio (95 % interval) | goal |",
        "|---|---|---|",
        f"| geometric mean of all | {number(verdict['overall'])} | {MOST_MEAN:.2f} |",
        f"| at {bytes_text(verdict['smallest_bytes'])} alone | {number(verdict['smallest'])} "
        f"| {MOST_MEAN_SMALLEST:.2f} |",
        f"| highest at {' and '.join(map(str, CROWDED))} ranks ({worst['algorithm']}, "
        f"{worst['procs']} ranks, {bytes_text(worst['bytes'])}) | {number(worst)} | {MOST_WORST:.2f} |",
        f"| geometric mean of all, by ratios of medians | {verdict['overall_of_medians']:.3f} | |",
        *(f"| {procs} ranks | {number(own)} | |" for procs, own in verdict["by_procs"].items()),
        *(f"| {name} | {number(own)} | |" for name, own in verdict["by_algorithm"].items()),
    ]
    for procs, own in groupby(cells, key=itemgetter("procs")):
        lines += [
            "",
            f"**{procs} ranks**: Convene's time as a part of Open MPI's (medians of both in µs)",
            "",
        ]
        lines += ["| bytes a block | " + " | ".join(PAIRS) + " |", "|---:|" + "---|" * len(PAIRS)]
        for size, row in groupby(own, key=itemgetter("bytes")):
            texts = [
                f"{cell['ratio']:.2f} ({cell['convene'] * 1e6:.4g} / {cell['openmpi'] * 1e6:.4g})"
                for cell in row
            ]
            lines.append(f"| {bytes_text(size)} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def draw(result: dict[str, Any], path: Path) -> None:
    """The ratios over the sizes, a panel for each number of ranks."""
    mpl.rcParams.update({"svg.hashsalt": "convene", "svg.fonttype": "none", "font.size": 9})
    groups = [(procs, list(own)) for procs, own in groupby(result["cells"], key=itemgetter("procs"))]
    figure, panels = plt.subplots(
        1,
        len(groups),
        figsize=(3.6 * len(groups) + 0.6, 3.4),
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    for panel, (procs, own) in zip(panels[0], groups, strict=True):
        for name, colour, marker in zip(PAIRS, COLOURS, MARKERS, strict=True):
            line = [cell for cell in own if cell["algorithm"] == name]
            sizes = [cell["bytes"] for cell in line]
            panel.plot(
                sizes,
                [cell["ratio"] for cell in line],
                color=colour,
                marker=marker,
                ms=3.5,
                lw=1.2,
                label=name,
            )
            panel.fill_between(
                sizes,
                [cell["low"] for cell in line],
                [cell["high"] for cell in line],
                color=colour,
                alpha=0.15,
                lw=0,
            )
        panel.axhline(1, color="black", lw=0.8)
        panel.set_xscale("log", base=2)
        ticks = sorted({cell["bytes"] for cell in own})[::3]
        panel.set_xticks(ticks, [bytes_text(size) for size in ticks])
        panel.set_title(f"{procs} ranks")
        panel.set_xlabel("bytes a block")
        panel.grid(axis="y", lw=0.3)
    low, high = panels[0][0].get_ylim()
    panels[0][0].set_ylim(max(low, 0), min(high, 2))
    panels[0][0].set_ylabel("Convene's time / Open MPI's")
    panels[0][-1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    compact_svg.save(figure, path)


REPORT = common.Report(markdown, draw)


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--procs", default="2,4,8", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--sizes", default="8:1MiB", help="bytes per block (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="of the program, each (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=100, help="in a run (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=5, help="for a size of a run, about (default: %(default)s)"
    )
    parser.add_argument(
        "--batch", type=float, default=200, help="µs of an observation (default: %(default)s)"
    )
    parser.add_argument(
        "--launcher", default=str(common.ROOT / ".stacks/openmpi5/bin/mpirun"), help="mpirun of an Open MPI 5"
    )
    parser.add_argument("--from", dest="source", metavar="FILE", help="evaluate these observations again")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    # Idle ranks give way where there are more of them than cores, and only there, whoever starts this.
    for name in settings.OVERSUBSCRIBED:
        os.environ.pop(name, None)
    if options.source:
        results = json.loads(Path(options.source).read_text())
    else:
        procs = parsing.parse_numbers(options.procs, "--procs", 2, 1024)
        results = measure(settings.find_setting(options.launcher, "openmpi"), procs, options)
    cells = evaluate(results)
    summary = {
        "about": circumstances(results),
        "environment": results[0]["environment"],
        "options": results[0]["options"],
        "verdict": judge(cells),
        "cells": [cell.as_json() for cell in cells],
    }
    common.keep(options, "own_algorithms", summary, results)


if __name__ == "__main__":
    common.run(main)
