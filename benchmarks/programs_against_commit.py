# SPDX-License-Identifier: BSD-3-Clause
"""Building schedules and simulating them, against another commit.

In each repetition the programs benchmarks/schedule_build.cpp and simulate_speed.cpp run as this checkout has
them, as the other commit has them, and as the latter once more (the control), in random order. A cell is one
benchmark of a program that both have; its ratio is the median of the ratios within repetitions. Cells are
judged like those of against_commit. Bytes of schedules are compared, too. Writes a summary (JSON) and a table
(Markdown).

    ./dev bench programs_against_commit --baseline COMMIT
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.common import baseline, ratios

# By program: which of its benchmarks. (A million ranks take minutes.)
PROGRAMS = {
    "schedule_build": "^(build|order)/",
    "simulate_speed": "^(sharing|maxmin)/.*/(128|512)/",
}
BYTES = "bytes"  # the counter of schedule_build's memory/
NEW, OLD, CONTROL = "new", "old", "control"

Times = dict[str, float]


def run_once(program: Path, chosen: str, seconds: float) -> Times:
    """Nanoseconds of processor time by benchmark."""
    command = [str(program), "--benchmark_format=json", f"--benchmark_filter={chosen}"]
    command.append(f"--benchmark_min_time={seconds}")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return {each["name"]: float(each["cpu_time"]) for each in json.loads(done.stdout)["benchmarks"]}


def bytes_of(program: Path) -> Times:
    """Bytes of the schedule of a rank of 1,024, by algorithm."""
    command = [str(program), "--benchmark_format=json", "--benchmark_filter=^memory/"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return {each["name"].split("/")[1]: each[BYTES] for each in json.loads(done.stdout)["benchmarks"]}


def measure(folders: dict[str, Path], options: argparse.Namespace) -> list[ratios.Cell]:
    order = random.Random(options.seed)
    cells: list[ratios.Cell] = []
    for name, chosen in PROGRAMS.items():
        observed: list[dict[str, Times]] = []
        for repetition in range(options.repetitions):
            observed.append(
                {
                    kind: run_once(folders[kind] / "bin" / f"benchmark_{name}", chosen, options.seconds)
                    for kind in order.sample([NEW, OLD, CONTROL], 3)
                }
            )
            print(f"{name}: repetition {repetition + 1} of {options.repetitions}", file=sys.stderr)
        for cell in observed[0][NEW]:
            if cell not in observed[0][OLD]:
                continue
            new, old, control = (
                np.array([each[kind][cell] for each in observed]) for kind in (NEW, OLD, CONTROL)
            )
            cells.append(ratios.Cell(f"{name} {cell}", new / old, control / old))
    return cells


def summary(cells: list[ratios.Cell], sizes: dict[str, Times], options: argparse.Namespace) -> dict[str, Any]:
    judged = ratios.judge(cells, options.limit)
    of_program = {
        name: ratios.geometric_mean([each for each in cells if each.name.startswith(name)]).as_json("ratio")
        for name in PROGRAMS
    }
    return {
        "options": {name: str(value) for name, value in common.asked(options).items()},
        "means": of_program,
        "failing": [each.name for each in judged if each.fails],
        "undecided": [each.name for each in judged if each.is_undecided],
        "larger_schedules": {
            name: sizes[NEW][name] / size
            for name, size in sizes[OLD].items()
            if name in sizes[NEW] and sizes[NEW][name] > size
        },
        "cells": [each.as_json() for each in judged],
    }


def markdown(results: dict[str, Any]) -> str:
    number = len(results["cells"])
    lines = [f"- {name}, geometric mean: {mean['ratio']:.3f}" for name, mean in results["means"].items()]
    lines += [
        f"- cells above {results['limit']:g}: {len(results['failing'])} of {number}",
        f"- undecided cells: {len(results['undecided'])} of {number}",
        f"- schedules that take more bytes: {len(results['larger_schedules'])}",
        "",
        *ratios.table(results["cells"]),
    ]
    return "\n".join(lines) + "\n"


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--baseline", required=True, metavar="COMMIT", help="the commit to compare with")
    parser.add_argument("--repetitions", type=int, default=12, help="default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=0.01, help="per benchmark and run (default: %(default)s)"
    )
    parser.add_argument("--limit", type=float, default=1.05, help="of a ratio (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="for the baseline's build (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    targets = [f"benchmark_{name}" for name in PROGRAMS]
    old = baseline.build(baseline.commit_of(options.baseline), targets, options.jobs)
    folders = {NEW: common.built("bin/benchmark_schedule_build").parent.parent, OLD: old, CONTROL: old}
    sizes = {kind: bytes_of(folders[kind] / "bin/benchmark_schedule_build") for kind in (NEW, OLD)}
    results = summary(measure(folders, options), sizes, options)
    common.keep(options, "programs_against_commit", {**results, "limit": options.limit})


REPORT = common.Report(markdown)


if __name__ == "__main__":
    common.run(main)
