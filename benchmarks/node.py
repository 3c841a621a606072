# SPDX-License-Identifier: BSD-3-Clause
"""Collectives through shared memory within a node, compared with the native ones.

A program (benchmarks/mpi/node.cpp) calls each collective with the root fixed, with the root rotating and
between barriers; native calls and Convene's take turns in every repetition, and the one-way time of a cache
line between two ranks is measured before each. Sizes are of the block in allgather, alltoall, gather,
reduce_scatter_block and scatter, else of the vector. Every program is started several times. The ratio of a
cell is the median of the starts' ratios of minima: other processes on the machine only add time. Writes JSON
and a table.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from convene.base import console, parsing, paths
from convene.base.text import bytes_text
from rich.progress import Progress

from benchmarks import common

# By stack: the folder of programs and libraries, and the launcher (one of the system, where the stack has no
# folder of its own).
FOLDERS = {
    "openmpi4": ("openmpi", "mpirun.openmpi"),
    "openmpi5": ("openmpi", "mpirun"),
    "mpich4": ("mpich", "mpiexec.mpich"),
    "mpich5": ("abi", "mpiexec"),
    "impi": ("abi", "mpiexec"),
}
ALGORITHMS = {
    "allgather": ["shared"],
    "allreduce": ["shared", "in_situ"],
    "alltoall": ["shared", "shared;segments=4"],
    "barrier": ["shared"],
    "bcast": ["shared;segments=1", "shared"],
    "exscan": ["shared", "shared;segments=8;direct=1"],
    "gather": ["shared", "shared;segments=4"],
    "reduce": ["shared;segments=1", "shared", "in_situ"],
    "reduce_scatter_block": ["shared", "shared;segments=4"],
    "scan": ["shared", "shared;segments=8;direct=1"],
    "scatter": ["shared", "shared;segments=4"],
}
# Where data goes one way between two ranks: from or to the root, or to the ranks above.
ONE_WAY = ("bcast", "exscan", "gather", "reduce", "scan", "scatter")
METHODS = ("fixed", "rotating", "barriers")
SHORT = {"starts": 1, "repetitions": 5, "sizes": "8,4KiB,256KiB", "batch": 500.0}


@dataclass(frozen=True)
class Program:
    stack: str
    procs: int
    collective: str
    algorithm: str


def command(program: Program, options: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    folder, launcher = FOLDERS[program.stack]
    own = {
        "CONVENE_USE": f"{program.collective}={program.algorithm}",
        "LD_PRELOAD": str(paths.preload_library(folder)),
    }
    stack = common.ROOT / ".stacks" / program.stack
    words = [str(stack / "bin" / launcher) if stack.is_dir() else launcher, "-n", str(program.procs)]
    if folder == "openmpi":
        words += [word for name, value in own.items() for word in ("-x", f"{name}={value}")]
    else:
        words += [word for name, value in own.items() for word in ("-genv", name, value)]
    sizes = parsing.parse_sizes(options.sizes) if program.collective != "barrier" else [0]
    words += [
        str(common.built(f"benchmarks/{folder}/node")),
        program.collective,
        ",".join(map(str, sizes)),
        str(options.repetitions),
        str(options.batch * 1e-6),
    ]
    library = {"LD_LIBRARY_PATH": str(stack / "lib")} if stack.is_dir() else {}
    return words, {**os.environ, **library}


def run(program: Program, options: argparse.Namespace) -> list[dict[str, Any]]:
    """By size and method: seconds of a call by repetition (see the program)."""
    words, environment = command(program, options)
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{program}: status {done.returncode}")
    found: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index("[") :])
    return found


def rounded(value: float, digits: int) -> float:
    """To some significant digits: a result has thousands of numbers."""
    return float(f"{value:.{digits}g}")


def row(program: Program, starts: list[dict[str, Any]]) -> dict[str, Any]:
    """A cell, of its starts."""
    native, own = ([min(one[table]) for one in starts] for table in ("native", "program"))
    line = np.concatenate([one["line"] for one in starts])
    return {
        **vars(program),
        "bytes": starts[0]["bytes"],
        "method": starts[0]["method"],
        "ratio": rounded(np.median(np.divide(own, native)), 3),
        "native_us": rounded(np.median(native) * 1e6, 2),
        "line_ns": [rounded(each * 1e9, 2) for each in np.percentile(line, [50, 90])],
    }


# Of a summary: what all cells of a series share, and what each has (a list by size).
SERIES = ("stack", "procs", "collective", "algorithm", "method")
CELL = ("ratio", "native_us")


def packed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows by series: a summary names each series and each size once."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in rows:
        found.setdefault(tuple(one[name] for name in SERIES), []).append(one)
    series = [
        {
            **dict(zip(SERIES, key, strict=True)),
            **{name: [cell[name] for cell in cells] for name in CELL},
            # The state of the two cores: beside the smallest size, and how much it varied over all of them.
            "line_ns": [cells[0]["line_ns"][0], rounded(np.median([one["line_ns"][1] for one in cells]), 2)],
        }
        for key, cells in found.items()
    ]
    return {"sizes": sorted({one["bytes"] for one in rows if one["bytes"]}), "series": series}


def rows_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            **{name: one[name] for name in (*SERIES, "line_ns")},
            **{name: one[name][at] for name in CELL},
            "bytes": size,
        }
        for one in result["series"]
        for at, size in enumerate([0] if one["collective"] == "barrier" else result["sizes"])
    ]


def best_of(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The fastest algorithm of each cell."""
    best: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in rows:
        cell = (one["stack"], one["procs"], one["collective"], one["bytes"], one["method"])
        if cell not in best or one["ratio"] < best[cell]["ratio"]:
            best[cell] = one
    return list(best.values())


def geometric_mean(rows: list[dict[str, Any]]) -> float:
    return float(np.exp(np.mean([np.log(one["ratio"]) for one in rows])))


def ratio_text(cells: list[dict[str, Any]]) -> str:
    """The mean ratio, with a star if a rank was often preempted."""
    preempted = any(one["line_ns"][1] > 1000 for one in cells)
    return f"{geometric_mean(cells):.2f}" + ("\\*" if preempted else "")


def goal_ns(collective: str, line_ns: float) -> float:
    """The goal for a short call of two ranks: a few one-way times of a cache line, and the call itself."""
    return (2 if collective in ONE_WAY else 1.5) * line_ns + 30


def short_calls(rows: list[dict[str, Any]]) -> list[str]:
    """Times of the shortest calls of two ranks beside the time of a cache line, as lines of a table."""
    pairs = [one for one in best_of(rows) if one["procs"] == 2]
    if not pairs:
        return []
    smallest = min(one["bytes"] for one in pairs if one["bytes"])
    lines = [
        f"Times of {bytes_text(smallest)} between two ranks in ns, Convene's / native. The line is a lower "
        "bound where a call depends on the one before. Goal: 1.5 times the line (one-way collectives: twice) "
        "+ 30 ns; **bold**: within it.",
        "",
        f"| MPI | collective | {' | '.join(METHODS)} | line |",
        "|---|---|" + "---:|" * (len(METHODS) + 1),
    ]
    calls: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for one in pairs:
        if one["bytes"] in (0, smallest):
            calls.setdefault((one["stack"], one["collective"]), {})[one["method"]] = one
    within = total = 0
    for (stack, collective), found in calls.items():
        shown = []
        for method in METHODS:
            if method not in found:
                shown.append("")
                continue
            cell = found[method]
            native = cell["native_us"] * 1e3
            own = cell["ratio"] * native
            is_within = own <= goal_ns(collective, cell["line_ns"][0])
            within, total = within + is_within, total + 1
            shown.append(f"**{own:.0f}** / {native:.0f}" if is_within else f"{own:.0f} / {native:.0f}")
        line = float(np.median([one["line_ns"][0] for one in found.values()]))
        lines.append(f"| {stack} | {collective} | {' | '.join(shown)} | {line:.0f} |")
    return [*lines, "", f"{within} of {total} are within the goal."]


def markdown(rows: list[dict[str, Any]], about: str) -> str:
    sizes = sorted({one["bytes"] for one in rows if one["bytes"]}) or [0]
    best = best_of(rows)
    lines = [
        about,
        "",
        "Geometric means of the methods, with the fastest algorithm of each cell:",
        "",
        f"| MPI | ranks | collective | {' | '.join(map(bytes_text, sizes))} | line |",
        "|---|---:|---|" + "---:|" * (len(sizes) + 1),
    ]
    series: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in best:
        series.setdefault((one["stack"], one["procs"], one["collective"]), []).append(one)
    for key, cells in series.items():
        # A barrier has no size: its ratio stands in the first column.
        by_size = [[one for one in cells if (one["bytes"] or sizes[0]) == size] for size in sizes]
        shown = [ratio_text(found) if found else "" for found in by_size]
        line = float(np.median([one["line_ns"][0] for one in cells]))
        lines.append(f"| {' | '.join(map(str, key))} | {' | '.join(shown)} | {line:.0f} ns |")
    lines += ["", "\\*: its 90th percentile exceeds 1 µs: other work preempted the ranks."]
    lines += ["", "Over all sizes:", ""]
    for stack, procs in dict.fromkeys((one["stack"], one["procs"]) for one in best):
        here = [one for one in best if (one["stack"], one["procs"]) == (stack, procs)]
        each = ", ".join(
            f"{name} {geometric_mean([one for one in here if one['collective'] == name]):.2f}"
            for name in dict.fromkeys(one["collective"] for one in here)
        )
        lines.append(f"- {stack}, {procs} ranks: {geometric_mean(here):.2f} ({each}).")
    if shortest := short_calls(rows):
        lines += ["", *shortest]
    return "\n".join(lines) + "\n"


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--stacks", default="openmpi5,mpich5", help="default: %(default)s")
    parser.add_argument("--procs", default="2", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--collectives", default=",".join(ALGORITHMS), help="default: %(default)s")
    parser.add_argument("--sizes", default="8:1MiB:4", help="bytes (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=5, help="of each program (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=21, help="in each start (default: %(default)s)")
    parser.add_argument("--batch", type=float, default=1000, help="microseconds (default: %(default)s)")
    parser.add_argument("--short", action="store_true", help="one start and three sizes, for development")
    options = parser.parse_args()
    if options.short:
        vars(options).update(SHORT)
    return options


def main() -> None:
    options = parse_arguments()
    programs = [
        Program(stack, int(procs), collective, algorithm)
        for stack in options.stacks.split(",")
        for procs in options.procs.split(",")
        for collective in options.collectives.split(",")
        for algorithm in ALGORITHMS[collective]
    ]
    measured: dict[Program, list[list[dict[str, Any]]]] = {program: [] for program in programs}
    load = [os.getloadavg()[0]]
    output = console.make(error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        task = progress.add_task("measuring", total=len(programs) * options.starts)
        for program in programs * options.starts:
            measured[program].append(run(program, options))
            progress.advance(task)
    load.append(os.getloadavg()[0])
    rows = [
        row(program, list(cells))
        for program, starts in measured.items()
        for cells in zip(*starts, strict=True)
    ]
    about = (
        f"{options.starts} starts of {options.repetitions} repetitions, batches of {options.batch:g} µs; "
        "ratio to native; load of the machine before and after: "
        f"{load[0]:.1f}, {load[1]:.1f}; line: one way of a cache line between two ranks."
    )
    common.keep(options, "node", {"about": about, **packed(rows)}, rows)


def as_text(result: dict[str, Any]) -> str:
    return markdown(rows_of(result), result["about"])


REPORT = common.Report(as_text)


if __name__ == "__main__":
    common.run(main)
