# SPDX-License-Identifier: BSD-3-Clause
"""The component of Open MPI 4.1 against the drop-in library, in pairs of runs.

In each repetition a program of plain MPI calls (benchmarks/mpi/call_times.cpp) runs through the component,
through the drop-in library, and through the latter once more (the control), in random order. A cell's ratio
is the median of the ratios within repetitions. Repetitions in which the time of a cache line between cores
differed do not count. Cells are judged like those of against_commit. Writes a summary (JSON) and a table
(Markdown).
"""

import argparse
import random
import sys
from typing import Any

import numpy as np
from convene import _core
from convene.base import paths

from benchmarks import common
from benchmarks.common import call_times, ratios

ALGORITHMS = ("native", "ring", "recursive_doubling", "bruck", "neighbor_exchange", "sparbit")
NEW, OLD, CONTROL = "component", "drop-in", "control"


def run_once(kind: str, algorithm: str, options: argparse.Namespace) -> dict[str, Any]:
    """Nanoseconds per call by cell, and of a cache line."""
    variables = {"CONVENE_USE": f"allgather={algorithm}"}
    if kind == NEW:
        folder = common.built("lib/openmpi/mca_coll_convene.so").parent
        variables["OMPI_MCA_mca_base_component_path"] = f"{folder}:SYSTEM_DEFAULT"
    return call_times.observe(
        "mpirun.openmpi",
        "openmpi",
        None if kind == NEW else paths.preload_library("openmpi"),
        procs=options.procs,
        seconds=options.seconds,
        cells=[f"allgather:{size}" for size in options.sizes],
        variables=variables,
    )


def measure(options: argparse.Namespace) -> list[ratios.Cell]:
    order = random.Random(options.seed)
    observed: dict[str, list[dict[str, Any]]] = {each: [] for each in ALGORITHMS}
    for repetition in range(options.repetitions):
        for algorithm in order.sample(ALGORITHMS, len(ALGORITHMS)):
            runs = {kind: run_once(kind, algorithm, options) for kind in order.sample([NEW, OLD, CONTROL], 3)}
            lines = [run["line"] for run in runs.values()]
            if max(lines) <= call_times.SAME_STATE * min(lines):
                observed[algorithm].append({kind: run["cells"] for kind, run in runs.items()})
        print(f"repetition {repetition + 1} of {options.repetitions}", file=sys.stderr)
    cells = []
    for algorithm, runs_of in observed.items():
        if not runs_of:
            raise _core.RequestError(f"{algorithm}: no repetition in one state; try --repetitions 30")
        for size in options.sizes:
            name = f"allgather:{size}"
            new, old, control = (
                np.array([each[kind][name] for each in runs_of]) for kind in (NEW, OLD, CONTROL)
            )
            cells.append(ratios.Cell(f"{algorithm} {size} B", new / old, control / old))
    return cells


def markdown(results: dict[str, Any]) -> str:
    cells = results["cells"]
    return "\n".join(
        [
            f"- geometric mean: {results['mean']['ratio']:.3f}",
            f"- cells above {results['options']['limit']:g}: {len(results['failing'])} of {len(cells)}",
            f"- undecided cells: {len(results['undecided'])} of {len(cells)}",
            "",
            *ratios.table(cells),
            "",
        ]
    )


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--procs", type=int, default=2, help="ranks (default: %(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 1024, 32768], help="bytes of a block")
    parser.add_argument("--repetitions", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.05, help="per cell and run (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=1.03, help="of a ratio (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    cells = measure(options)
    judged = ratios.judge(cells, options.limit)
    results = {
        "options": common.asked(options),
        "mean": ratios.geometric_mean(cells).as_json("ratio"),
        "failing": [each.name for each in judged if each.fails],
        "undecided": [each.name for each in judged if each.is_undecided],
        "cells": [each.as_json() for each in judged],
    }
    common.keep(options, "component", results)


REPORT = common.Report(markdown)


if __name__ == "__main__":
    common.run(main)
