# SPDX-License-Identifier: BSD-3-Clause
"""The drop-in libraries of this checkout against those of another commit, in pairs of runs.

In each repetition a program of plain MPI calls (benchmarks/mpi/call_times.cpp) runs with the library of this
checkout, with that of the other commit, and with the latter once more (the control), one directly after the
other in random order. A cell's ratio is the median of the ratios within repetitions; a repetition counts
where the runs found the machine in one state, by the time of a cache line between cores. A cell fails if its
ratio exceeds the limit, after Holm's correction; it is undecided if its interval is wide. Programs with such
a cell, or one in which a planted slowdown is often missed, get further repetitions while there is time.
Writes a summary (JSON) and a table (Markdown). An interrupted run is resumed.

    ./dev bench against_commit --baseline COMMIT            (the required subset, at most 60 minutes)
    ./dev bench against_commit --baseline COMMIT --estimate (how long that takes)
"""

import argparse
import hashlib
import os
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from convene.base import paths
from convene.mpi import settings

from benchmarks import common
from benchmarks.common import baseline, call_times, ratios, stacks
from benchmarks.common.observations import Observations

# The required subset, by what is chosen (native: nothing is). An i in front is the non-blocking form.
CELLS = {
    "native": "allgather:8 allgather:32768 allreduce:8 bcast:8 barrier:0 alltoall:1024 iallgather:8 "
    "iallreduce:1024",
    "ring": "allgather:8 allgather:1024 allgather:32768 iallgather:8 iallgather:32768 allreduce:1024 "
    "iallreduce:1024",
    "recursive_doubling": "allgather:8 allgather:32768 allreduce:8 allreduce:32768 iallreduce:8",
    "bruck": "allgather:8 allgather:32768 iallgather:8 alltoall:1024",
    "sparbit": "allgather:8 allgather:1024 allgather:32768 iallgather:1024",
    "shared": "allgather:8 allgather:1024 allgather:32768 bcast:8 bcast:32768 barrier:0",
    "in_situ": "allreduce:8",
}
COLLECTIVES = ("allgather", "allreduce", "alltoall", "bcast", "barrier")

START = 0.5  # seconds that a run takes beside its cells, about
MOST_MEAN = 1.01
NEW, OLD, CONTROL = "new", "old", "control"


@dataclass(frozen=True)
class Session:
    """What one process measures."""

    stack: str
    choice: str

    @property
    def name(self) -> str:
        return f"{self.stack} {self.choice}"

    @property
    def cells(self) -> list[str]:
        return CELLS[self.choice].split()

    @property
    def use(self) -> str:
        """The value of CONVENE_USE: the algorithm for all collectives that have it."""
        names = [cell.partition(":")[0] for cell in self.cells]
        wanted = [each for each in COLLECTIVES if each in names or f"i{each}" in names]
        return "" if self.choice == "native" else ",".join(f"{each}={self.choice}" for each in wanted)


def run_once(session: Session, library: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Nanoseconds per call by cell, and of a cache line."""
    return call_times.observe(
        stacks.launcher_of(session.stack),
        stacks.library_of(session.stack),
        library,
        procs=options.procs,
        seconds=options.seconds,
        cells=session.cells,
        variables={"CONVENE_USE": session.use} if session.use else {},
    )


def measure(
    sessions: list[Session],
    libraries: dict[str, dict[str, Path]],
    kept: Observations,
    options: argparse.Namespace,
) -> None:
    """Repetition after repetition, until all programs have enough or time is up."""
    order = random.Random(options.seed + sum(len(kept.runs(each.name)) for each in sessions))
    end = time.monotonic() + 60 * options.minutes
    while left := unfinished(sessions, kept, options.repetitions):
        fewest = min(len(kept.runs(each.name)) for each in left)
        now = [each for each in left if len(kept.runs(each.name)) == fewest]
        for session in order.sample(now, len(now)):
            if time.monotonic() > end:
                print(f"stopped after {options.minutes:g} minutes; the same command resumes", file=sys.stderr)
                return
            stack = stacks.library_of(session.stack)
            observed = {
                kind: run_once(session, libraries[NEW if kind == NEW else OLD][stack], options)
                for kind in order.sample([NEW, OLD, CONTROL], 3)
            }
            kept.runs(session.name).append(observed)
            kept.write()
        print(f"repetition {fewest + 1} of {len(now)} programs", file=sys.stderr)


def unfinished(sessions: list[Session], kept: Observations, repetitions: int) -> list[Session]:
    """Programs with fewer repetitions; then those with a cell whose interval is wide, or in which a planted
    slowdown is often missed. (A ratio does not decide.)"""
    few = [each for each in sessions if len(kept.runs(each.name)) < repetitions]
    return few or [
        each
        for each in sessions
        if len(cells := cells_of([each], kept)[0]) < len(each.cells) or any(map(ratios.is_weak, cells))
    ]


def is_one_state(observed: dict[str, Any]) -> bool:
    lines = [float(each["line"]) for each in observed.values()]
    return max(lines) <= call_times.SAME_STATE * min(lines)


def cells_of(sessions: list[Session], kept: Observations) -> tuple[list[ratios.Cell], int]:
    """The cells with their ratios, and how many repetitions met two states of the machine."""
    cells: list[ratios.Cell] = []
    dropped = 0
    for session in sessions:
        runs = kept.runs(session.name)
        same = [each for each in runs if is_one_state(each)]
        dropped += len(runs) - len(same)
        if len(same) < 5:  # too few for an interval
            continue
        for cell in session.cells:
            new, old, control = (
                np.array([each[kind]["cells"][cell] for each in same]) for kind in (NEW, OLD, CONTROL)
            )
            name = f"{session.stack} {session.choice} {cell}"
            cells.append(ratios.Cell(name, new / old, control / old))
    return cells, dropped


def summary(
    cells: list[ratios.Cell], dropped: int, options: argparse.Namespace, kept: Observations
) -> dict[str, Any]:
    judged = ratios.judge(cells, options.limit)
    control = [ratios.Cell(cell.name, cell.control, cell.control) for cell in cells]
    lines = [run["new"]["line"] for runs in kept.data["runs"].values() for run in runs]
    return {
        "options": {name: str(value) for name, value in common.asked(options).items()},
        "mean": ratios.geometric_mean(cells).as_json("ratio"),
        "control_mean": ratios.geometric_mean(control).as_json("ratio"),
        "repetitions_in_two_states": dropped,
        "nanoseconds_of_a_cache_line": [float(value) for value in np.percentile(lines, [5, 50, 95])],
        "planted_detected": float(np.mean([each.detected for each in judged])),
        "failing": [each.name for each in judged if each.fails],
        "undecided": [each.name for each in judged if each.is_undecided],
        "cells": [each.as_json() for each in judged],
    }


def verdicts(results: dict[str, Any], limit: float) -> list[tuple[str, bool]]:
    """The goals, and whether each is met."""
    number = len(results["cells"])
    undecided = len(results["undecided"])
    mean, detected = results["mean"]["ratio"], results["planted_detected"]
    return [
        (f"cells above {limit:g}: {len(results['failing'])} of {number}", not results["failing"]),
        (f"undecided cells: {undecided} of {number}", undecided <= ratios.MOST_UNDECIDED * number),
        (f"geometric mean: {mean:.3f} (goal {MOST_MEAN})", mean <= MOST_MEAN),
        (f"planted slowdowns of 5 % noticed: {detected:.1%}", detected >= ratios.LEAST_DETECTED),
    ]


def markdown(results: dict[str, Any], limit: float) -> str:
    low, middle, high = results["nanoseconds_of_a_cache_line"]
    lines = [f"- {text}: {'yes' if met else 'no'}" for text, met in verdicts(results, limit)]
    lines += [
        f"- baseline against itself, geometric mean: {results['control_mean']['ratio']:.3f}",
        f"- a cache line to another core and back: {middle:.0f} ns ({low:.0f} to {high:.0f}); "
        f"{results['repetitions_in_two_states']} repetitions met two states and do not count",
        "",
        *ratios.table(results["cells"]),
    ]
    return "\n".join(lines) + "\n"


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--baseline", required=True, metavar="COMMIT", help="the commit to compare with")
    parser.add_argument("--stacks", default="openmpi4,openmpi5,mpich4,mpich5", help="default: %(default)s")
    parser.add_argument("--choices", default=",".join(CELLS), help="algorithms (default: %(default)s)")
    parser.add_argument("--procs", type=int, default=2, help="ranks (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=20, help="at least (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.02, help="per cell and run (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=55, help="stop after (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=1.05, help="of a ratio (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="for the baseline's build (default: %(default)s)")
    parser.add_argument("--estimate", action="store_true", help="print how long it takes, and end")
    return parser.parse_args()


def digest(libraries: dict[str, dict[str, Path]]) -> str:
    files = [path for own in libraries.values() for path in own.values()]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def main() -> None:
    options = parse_arguments()
    for name in settings.OVERSUBSCRIBED:  # whoever starts this
        os.environ.pop(name, None)
    names = common.chosen(options.stacks, stacks.STACKS, "stack")
    choices = common.chosen(options.choices, CELLS, "choice")
    sessions = [Session(stack, each) for stack in names for each in choices]
    number = sum(len(session.cells) for session in sessions)
    seconds = sum(START + len(each.cells) * (options.seconds + 0.005) for each in sessions)
    print(
        f"{number} cells in {len(sessions)} programs, {options.repetitions} repetitions of three runs: about "
        f"{3 * seconds * options.repetitions / 60:.0f} minutes; further ones of weak cells, in all at most "
        f"{options.minutes:g} minutes; and the baseline's build",
        file=sys.stderr,
    )
    commit = baseline.commit_of(options.baseline)
    if options.estimate:
        return
    needed = sorted({stacks.library_of(stack) for stack in names})
    old = baseline.build(commit, [f"convene-preload-{stack}" for stack in needed], options.jobs)
    libraries = {
        NEW: {stack: paths.preload_library(stack) for stack in needed},
        OLD: {stack: old / "lib" / f"libconvene-preload-{stack}.so" for stack in needed},
    }
    key = " ".join([digest(libraries), str(options.procs), str(options.seconds)])
    kept = Observations(options.output / "against_commit_observations.json", key)
    measure(sessions, libraries, kept, options)
    cells, dropped = cells_of(sessions, kept)
    if not cells:
        raise RuntimeError("no cell has five repetitions in one state of the machine; run it longer")
    results = summary(cells, dropped, options, kept)
    common.keep(options, "against_commit", {**results, "limit": options.limit})


REPORT = common.Report(lambda result: markdown(result, result["limit"]))


if __name__ == "__main__":
    common.run(main)
