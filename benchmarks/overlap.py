# SPDX-License-Identifier: BSD-3-Clause
"""How much of a non-blocking collective hides behind computation, compared with the native MPI_I….

A program (benchmarks/mpi/overlap.cpp) starts a collective, computes for as long as the collective takes
alone, and waits; native calls and Convene's take turns. Overlap is the share of the collective's time that
the whole did not take longer: 1 - (whole - computation) / alone. On this machine with a core for each rank,
and on two emulated nodes (root only), with and without the progress thread. Every program is started several
times, since where its memory and ranks lie decides much, and stays for as long as it runs. Writes JSON and a
table.
"""

import argparse
import json
import os
import subprocess
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from convene.base import console, parsing, paths
from convene.base.text import bytes_text
from convene.cluster import launch, lifecycle, rates, state
from convene.stats.bootstrap import Array, Estimate, estimate, resample_medians
from rich.progress import Progress

from benchmarks import common

FOLDERS = {"openmpi5": ("openmpi", "mpirun"), "mpich5": ("abi", "mpiexec")}
ALGORITHMS = {
    "allgather": "ring",
    "bcast": "binomial",
    "allreduce": "rabenseifner",
    "alltoall": "pairwise",
}
GOAL_FROM = 64 << 10  # bytes from which Convene is to hide at least as much


@dataclass(frozen=True)
class Setup:
    stack: str
    procs: int
    nodes: int  # 0: this machine
    thread: bool
    collective: str

    @property
    def place(self) -> str:
        return f"{self.procs} ranks, {self.nodes} nodes" if self.nodes else f"{self.procs} ranks, one node"


@dataclass(frozen=True)
class Row:
    setup: Setup
    size: int
    native: Estimate  # overlap, 0 … 1 (below 0: the computation made it slower)
    convene: Estimate
    whole: Estimate  # Convene's time with computation, as a part of the native time with its own computation
    alone: Estimate | None = None  # Convene's time without computation, as a part of the native one

    def as_json(self) -> dict[str, Any]:
        return {
            **vars(self.setup),
            "bytes": self.size,
            "native": self.native.as_json("overlap"),
            "convene": self.convene.as_json("overlap"),
            "whole": self.whole.as_json("ratio"),
        } | ({"alone": self.alone.as_json("ratio")} if self.alone else {})

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Row":
        setup = Setup(**{name: value[name] for name in Setup.__dataclass_fields__})
        native, convene, whole = (Estimate(*value[each].values()) for each in ("native", "convene", "whole"))
        alone = Estimate(*value["alone"].values()) if "alone" in value else None
        return cls(setup, value["bytes"], native, convene, whole, alone)


def overlap(alone: Array, behind: Array) -> Array:
    computation = np.median(alone)
    return np.asarray(1 - (behind - computation) / computation)


def median(starts: list[Array], seed: int) -> Estimate:
    """Of the starts' medians. Starts are resampled, and the repetitions of each."""
    samples = np.stack([resample_medians(one[np.newaxis], seed + i)[0] for i, one in enumerate(starts)])
    drawn = np.random.default_rng(seed).integers(0, len(starts), samples.shape)
    value = np.median([np.median(one) for one in starts])
    return estimate(float(value), np.median(np.take_along_axis(samples, drawn, 0), axis=0))


def run(
    setup: Setup, where: state.Cluster | None, options: argparse.Namespace
) -> dict[int, dict[str, dict[str, Array]]]:
    """Seconds alone and behind computation, by size and call table, of one start."""
    folder, launcher = FOLDERS[setup.stack]
    own = {
        "CONVENE_USE": f"{setup.collective}={algorithms(options)[setup.collective]}",
        "CONVENE_PROGRESS_THREAD": "1" if setup.thread else "0",
    }
    preload = str(paths.preload_library(folder))
    words = [str(common.ROOT / ".stacks" / setup.stack / "bin" / launcher), "-n", str(setup.procs)]
    if setup.stack == "openmpi5":
        words += [word for name in own for word in ("-x", name)] + ["-x", f"LD_PRELOAD={preload}"]
    else:
        words += ["-genv", "LD_PRELOAD", preload]
        words += [word for name, value in own.items() for word in ("-genv", name, value)]
    words.append(str(common.ROOT / "build/benchmarks" / folder / "overlap"))
    sizes = ",".join(map(str, parsing.parse_sizes(options.sizes)))
    words += [setup.collective, sizes, str(options.tests), str(options.repetitions)]
    environment = {**os.environ, **own, "LD_LIBRARY_PATH": str(common.ROOT / ".stacks" / setup.stack / "lib")}
    if where:
        # With this one, Open MPI 5 puts all ranks on the first node.
        environment.pop("PRTE_MCA_rmaps_default_mapping_policy", None)
        environment |= launch.variables(where)
        words = launch.command_line(where, 0, words)
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{setup}: status {done.returncode}")
    found: dict[int, dict[str, dict[str, Array]]] = {}
    for one in json.loads(done.stdout[done.stdout.index("[") :]):
        found.setdefault(one["bytes"], {})[one["table"]] = {k: np.array(one[k]) for k in ("alone", "behind")}
    return found


def row(setup: Setup, size: int, starts: list[dict[str, dict[str, Array]]]) -> Row:
    return Row(
        setup,
        size,
        median([overlap(**tables["native"]) for tables in starts], 1),
        median([overlap(**tables["program"]) for tables in starts], 2),
        median([tables["program"]["behind"] / tables["native"]["behind"] for tables in starts], 3),
        median([tables["program"]["alone"] / tables["native"]["alone"] for tables in starts], 4),
    )


def in_words(value: Estimate) -> str:
    return f"{value.value:.0%} ({value.low:.0%} … {value.high:.0%})"


def ratio(value: Estimate | None) -> str:
    return f"{value.value:.2f} ({value.low:.2f} … {value.high:.2f})" if value else "-"


def markdown(rows: list[Row], about: str) -> str:
    lines = [about, ""]
    has_alone = any(row.alone for row in rows)  # older files have none
    lines += [
        "| MPI | where | thread | collective | bytes | native hides | Convene's | whole time |"
        + " alone |" * has_alone,
        "|---|---|---|---|---:|---|---|---|" + "---|" * has_alone,
    ]
    for row in rows:
        lines.append(
            f"| {row.setup.stack} | {row.setup.place} | {'yes' if row.setup.thread else 'no'} "
            f"| {row.setup.collective} | {bytes_text(row.size)} | {in_words(row.native)} "
            f"| {in_words(row.convene)} | {ratio(row.whole)} |" + f" {ratio(row.alone)} |" * has_alone
        )
    large = [row for row in rows if row.size >= GOAL_FROM]
    if large:
        hides = [row for row in large if row.convene.high >= row.native.low]
        is_over = [row for row in large if row.whole.low <= 1]
        neither = [row for row in large if row not in hides and row not in is_over]
        lines += [
            "",
            f"From {bytes_text(GOAL_FROM)} on, within the intervals, Convene hides at least as "
            f"large a part of its own time as native in {len(hides)} of {len(large)} rows, "
            f"is over as soon in {len(is_over)}, and neither in {len(neither)}.",
        ]
    return "\n".join(lines) + "\n"


def algorithms(options: argparse.Namespace) -> dict[str, str]:
    """The algorithm of each collective."""
    return ALGORITHMS | dict(each.split("=", 1) for each in options.use.split(",") if each)


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--stacks", default="openmpi5,mpich5", help="default: %(default)s")
    parser.add_argument("--collectives", default="allgather,allreduce", help="default: %(default)s")
    parser.add_argument("--use", default="", help="algorithms other than the usual ones: allgather=shared,…")
    parser.add_argument("--sizes", default="8,4KiB,64KiB,512KiB,4MiB", help="bytes (default: %(default)s)")
    parser.add_argument(
        "--tests", type=int, default=10, help="MPI_Test while computing (default: %(default)s)"
    )
    parser.add_argument("--starts", type=int, default=5, help="of each program (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=5, help="in each start (default: %(default)s)")
    parser.add_argument("--rate", default="1gbit", help="of the emulated links (default: %(default)s)")
    parser.add_argument("--places", default="2x0,4x2", help="ranks x nodes; 0: here (default: %(default)s)")
    return parser.parse_args()


def setups(places: str, stacks: str, collectives: str) -> list[Setup]:
    return [
        Setup(stack, int(procs), int(nodes), thread, collective)
        for place in places.split(",")
        for procs, nodes in [place.split("x")]
        for stack in stacks.split(",")
        for collective in collectives.split(",")
        for thread in (False, True)
    ]


def main() -> None:
    options = parse_arguments()
    measured: dict[Setup, list[dict[int, dict[str, dict[str, Array]]]]] = {
        setup: [] for setup in setups(options.places, options.stacks, options.collectives)
    }
    output = console.make(error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        task = progress.add_task("measuring", total=len(measured) * options.starts)
        for procs, nodes in dict.fromkeys((setup.procs, setup.nodes) for setup in measured):
            shape = state.Shape(
                max(nodes, 1), slots=-(-procs // max(nodes, 1)), rate=rates.parse_rate(options.rate)
            )
            scope = lifecycle.temporary(f"overlap-{os.getpid()}", shape) if nodes else nullcontext()
            here = [setup for setup in measured if (setup.procs, setup.nodes) == (procs, nodes)]
            with scope as where:
                for setup in here * options.starts:
                    measured[setup].append(run(setup, where, options))
                    progress.advance(task)
    rows = [
        row(setup, size, [start[size] for start in starts])
        for setup, starts in measured.items()
        for size in starts[0]
    ]
    about = (
        f"{options.starts} starts of {options.repetitions} repetitions, {options.tests} calls of MPI_Test "
        f"within the computation, emulated links of {options.rate}; whole time: of the MPI's; medians of the "
        "starts' medians, with 95 % intervals."
    )
    common.keep(options, "overlap", {"about": about, "overlaps": [one.as_json() for one in rows]})


def as_text(result: dict[str, Any]) -> str:
    return markdown([Row.from_json(row) for row in result["overlaps"]], result["about"])


REPORT = common.Report(as_text)


if __name__ == "__main__":
    common.run(main)
