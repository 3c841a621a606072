# SPDX-License-Identifier: BSD-3-Clause
"""Schedules over libfabric, compared with the same schedules over messages of the MPI, on emulated nodes.

In each repetition a program of plain MPI calls (benchmarks/mpi/call_times.cpp) runs with each transport, with
messages of the MPI, with these once more (the control), and without Convene, in random order; one rank per
node. A cell is an algorithm at a size. Its ratio is the median of the ratios within repetitions, of the time
of a call and of the processor time of all ranks. Cells are judged like those of against_commit. Needs root.
Writes a summary (JSON) and tables (Markdown). An interrupted run is resumed."""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from convene import _core
from convene.base import parsing, paths
from convene.base.text import bytes_text
from convene.cluster import launch, lifecycle, state
from convene.run.environment import check_transport

from benchmarks import common
from benchmarks.common import call_times, ratios, stacks
from benchmarks.common.observations import Observations

# The algorithms of one process: a collective has one at a time.
SETS = (
    "allgather=ring,alltoall=pairwise,bcast=binomial,allreduce=recursive_doubling,barrier=dissemination",
    "allgather=recursive_doubling,alltoall=bruck,bcast=scatter_allgather,allreduce=rabenseifner",
)
MESSAGES, CONTROL, NATIVE = "messages", "control", "native"
SMALL = 1024  # bytes, up to which calls are small
LIMIT = 1.15
LEAST = 5  # repetitions of an interval
START = 2.5  # seconds of a run beside its cells, about

Pick = Callable[[dict[str, Any], str], float]  # from a run, of a cell


def cells_of(algorithms: str, sizes: list[int]) -> list[str]:
    """COLLECTIVE:BYTES of the algorithms. A barrier has no bytes."""
    names = [each.partition("=")[0] for each in algorithms.split(",")]
    return [f"{name}:{size}" for name in names for size in ([0] if name == "barrier" else sizes)]


def run_once(stack: str, kind: str, algorithms: str, options: argparse.Namespace) -> dict[str, Any]:
    """Nanoseconds per call, and of processor time, by cell."""
    variables = {"CONVENE_USE": algorithms, "CONVENE_WISDOM": "none"}
    if kind not in (MESSAGES, CONTROL, NATIVE):
        variables |= {"CONVENE_TRANSPORT": kind, "CONVENE_LOG": "info"}
    library = stacks.library_of(stack)
    return call_times.observe(
        stacks.launcher_of(stack),
        library,
        None if kind == NATIVE else paths.preload_library(library),
        procs=options.within,
        seconds=options.seconds,
        cells=cells_of(algorithms, parsing.parse_sizes(options.sizes)),
        variables=variables if kind != NATIVE else {},
        refused="messages are those of the MPI",
    )


def measure(names: list[str], kept: Observations, options: argparse.Namespace) -> None:
    """Repetition after repetition, until all have enough or time is up."""
    programs = [(stack, each) for stack in names for each in SETS]
    kinds = [*options.transports.split(","), MESSAGES, CONTROL, NATIVE]
    order = random.Random(options.seed + sum(len(kept.runs(" ".join(each))) for each in programs))
    end = time.monotonic() + 60 * options.minutes
    for repetition in range(options.repetitions):
        for stack, algorithms in order.sample(programs, len(programs)):
            runs = kept.runs(f"{stack} {algorithms}")
            if len(runs) > repetition:
                continue
            if time.monotonic() > end:
                print(f"stopped after {options.minutes:g} minutes; the same command resumes", file=sys.stderr)
                return
            sample = order.sample(kinds, len(kinds))
            runs.append({kind: run_once(stack, kind, algorithms, options) for kind in sample})
            kept.write()
        print(f"repetition {repetition + 1} of {options.repetitions}", file=sys.stderr)


def algorithm_of(cell: str, algorithms: str) -> str:
    """As tables name a cell: allgather=ring, 8 B."""
    collective, size = cell.split(":")
    choice = next(each for each in algorithms.split(",") if each.startswith(collective + "="))
    return f"{choice}, {bytes_text(int(size))}"


def compared(
    names: list[str], transport: str, pick: Pick, kept: Observations
) -> dict[str, list[ratios.Cell]]:
    """By stack: the ratios of a transport (or of native calls) to messages of the MPI."""
    found = dict[str, list[ratios.Cell]]()
    for stack in names:
        for algorithms in SETS:
            runs = kept.runs(f"{stack} {algorithms}")
            if len(runs) < LEAST:
                continue
            for cell in runs[0][MESSAGES]["cells"]:
                new, old, control = (
                    np.array([pick(run[kind], cell) for run in runs])
                    for kind in (transport, MESSAGES, CONTROL)
                )
                name = algorithm_of(cell, algorithms)
                found.setdefault(stack, []).append(ratios.Cell(name, new / old, control / old))
    return found


def is_small(cell: ratios.Cell) -> bool:
    return parsing.parse_sizes(cell.name.rpartition(", ")[2].replace(" ", ""))[0] <= SMALL


def means(cells: list[ratios.Cell]) -> dict[str, Any]:
    parts = {"all": cells, "small": [each for each in cells if is_small(each)]}
    parts["large"] = [each for each in cells if not is_small(each)]
    controls = [ratios.Cell(each.name, each.control, each.control) for each in cells]
    rows = {name: ratios.geometric_mean(part).as_json("ratio") for name, part in parts.items() if part}
    return {**rows, "control": ratios.geometric_mean(controls).as_json("ratio")}


def summary(names: list[str], kept: Observations, options: argparse.Namespace) -> dict[str, Any]:
    rows, cells = list[dict[str, Any]](), list[dict[str, Any]]()
    for transport in [*options.transports.split(","), NATIVE]:
        times = compared(names, transport, lambda run, cell: float(run["cells"][cell]), kept)
        cpu = compared(names, transport, lambda run, cell: float(run["cpu"][cell]), kept)
        for stack, own in times.items():
            judged = ratios.judge(own, LIMIT)
            rows.append(
                {
                    "stack": stack,
                    "transport": transport,
                    **means(own),
                    "cpu": ratios.geometric_mean(cpu[stack]).as_json("ratio"),
                    "above": sum(each.fails for each in judged),
                    "undecided": sum(each.is_undecided for each in judged),
                    "number": len(judged),
                    "detected": float(np.mean([each.detected for each in judged])),
                }
            )
            if transport != NATIVE:
                cells += [{"stack": stack, "transport": transport, **each.as_json()} for each in judged]
    return {"options": common.asked(options), "nodes": options.within, "rows": rows, "cells": cells}


def interval(estimate: dict[str, float]) -> str:
    return f"{estimate['ratio']:.2f} ({estimate['low']:.2f} to {estimate['high']:.2f})"


def markdown(results: dict[str, Any]) -> str:
    lines = [
        f"| {results['nodes']} nodes, over messages of the MPI | up to 1 KiB | larger | all | processor time "
        f"| above {LIMIT} | undecided | control |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in results["rows"]:
        above = "" if row["transport"] == NATIVE else f"{row['above']} of {row['number']}"
        undecided = "" if row["transport"] == NATIVE else row["undecided"]
        shares = " | ".join(
            interval(row[part]) if part in row else "" for part in ("small", "large", "all", "cpu")
        )
        lines.append(
            f"| {row['stack']}, `{row['transport']}` | {shares} | {above} | {undecided} "
            f"| {row['control']['ratio']:.2f} |"
        )
    failing = [each for each in results["cells"] if each["verdict"] == "fails"]
    texts = [
        f"{each['stack']} `{each['transport']}` {each['cell']} {each['ratio']:.2f}"
        for each in sorted(failing, key=lambda each: -each["ratio"])
    ]
    return "\n".join([*lines, "", f"Above {LIMIT}: {'; '.join(texts) or 'none'}.", ""])


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--stacks", default="openmpi5,mpich5", help="default: %(default)s")
    parser.add_argument("--nodes", type=int, default=4, help="emulated ones (default: %(default)s)")
    parser.add_argument(
        "--transports",
        default="fabric:tcp,fabric:tcp:hybrid",
        help="values of CONVENE_TRANSPORT (default: %(default)s)",
    )
    parser.add_argument(
        "--sizes", default="8,1KiB,32KiB,256KiB,1MiB", help="bytes of a block (default: %(default)s)"
    )
    parser.add_argument("--repetitions", type=int, default=12, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.05, help="per cell and run (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=60, help="stop after (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (default: %(default)s)")
    parser.add_argument("--within", type=int, help=argparse.SUPPRESS)  # nodes of the cluster around it
    return parser.parse_args()


def within_cluster(options: argparse.Namespace) -> None:
    """This program again, on the first of the emulated nodes."""
    with lifecycle.temporary(f"fabric-{os.getpid()}", state.Shape(options.nodes)) as where:
        command = [sys.executable, "-m", "benchmarks.fabric", *sys.argv[1:], "--within", str(options.nodes)]
        environment = {**os.environ, **launch.variables(where)}
        done = subprocess.run(launch.command_line(where, 0, command), env=environment, check=False)
    sys.exit(done.returncode)


def main() -> None:
    options = parse_arguments()
    names = common.chosen(options.stacks, stacks.STACKS, "stack")
    for transport in options.transports.split(","):
        check_transport(transport)
    if options.nodes < 2:
        raise _core.RequestError(f"--nodes must be at least 2, not {options.nodes}")
    if options.repetitions < LEAST:
        raise _core.RequestError(f"--repetitions must be at least {LEAST}, not {options.repetitions}")
    if not options.within:
        calls = sum(len(cells_of(each, parsing.parse_sizes(options.sizes))) for each in SETS)
        kinds = 3 + len(options.transports.split(","))
        seconds = len(names) * kinds * options.repetitions * (len(SETS) * START + calls * 2 * options.seconds)
        print(f"about {seconds / 60:.0f} minutes, at most {options.minutes:g}", file=sys.stderr)
        within_cluster(options)
    del sys.argv[-2:]  # --within is no option of the command that a summary states
    libraries = [paths.preload_library(stacks.library_of(stack)).stat().st_mtime for stack in names]
    key = f"{options.within} {options.sizes} {options.transports} {options.seconds} {libraries}"
    kept = Observations(options.output / f"fabric_{options.within}_observations.json", key)
    measure(names, kept, options)
    results = summary(names, kept, options)
    if not results["rows"]:
        raise RuntimeError("fewer than five repetitions; run it longer")
    common.keep(options, f"fabric_{options.within}_nodes", results, kept.data)


REPORT = common.Report(markdown)


if __name__ == "__main__":
    common.run(main)
