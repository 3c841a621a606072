# SPDX-License-Identifier: BSD-3-Clause
"""Reductions with late ranks, in the manner of the Clairvoyant work (Marendic et al. 2016, Algorithm 2).

First the last rank is late by 0 … 5 run times of Clairvoyant, for each size, with all algorithms by turns in
one run: Clairvoyant with the true forecast, without one, and with a wrong one, and the others, the MPI's own
among them. Then, in each of many iterations, all ranks come as a trace has it whose levels drift, and
Clairvoyant is told nothing, the mean of the last five iterations, or the truth (section 6.2). On this
machine, or on nodes that are emulated on it (--nodes, root only). Writes a summary of every cell (JSON),
tables (Markdown) and a figure (SVG)."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import numpy as np
from convene import _core
from convene.base import console, parsing
from convene.bench import metrics, program, requests
from convene.catalogue import selection
from convene.cluster import launch, lifecycle, rates, state
from convene.mpi import settings
from convene.stats import inference
from convene.stats.bootstrap import Array, Estimate, estimate, resample_medians
from convene.studies.clairvoyant import atomic as clairvoyant_atomic
from matplotlib import pyplot as plt
from rich.progress import Progress

from benchmarks import common

TOLD, UNTOLD, MISLED, AVERAGE = (
    "clairvoyant@truth",
    "clairvoyant",
    "clairvoyant@mirrored",
    "clairvoyant@average",
)
BY_NODES = "hier(clairvoyant,linear)@truth"  # where there are several nodes
RIVALS = (
    *("native", "linear", "binomial", "binary", "butterfly", "ring", "radix_k", "pipeline", "two_tree"),
    "local_redirect",
)
COMPARED = ("binomial", "butterfly", "ring", "radix_k")  # by the source
TRACED = ("native", "binomial", "local_redirect", UNTOLD, AVERAGE, TOLD, MISLED)
METRIC = metrics.METRICS["run_time"]  # first arrival to last exit
DELAYS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0)  # in run times


@dataclass(frozen=True)
class Cell:
    """All algorithms at one size, with the last rank late by so many run times."""

    size: int
    run_time: float  # of Clairvoyant, when all come at once: seconds
    times: float  # of that, by which the last rank is late
    observed: dict[str, Array]  # seconds, by repetition

    @property
    def delay(self) -> float:
        return self.times * self.run_time

    def median(self, name: str) -> float:
        return float(np.median(self.observed[name]))

    def best(self, names: Iterable[str] = RIVALS) -> str:
        return min((name for name in names if name in self.observed), key=self.median)

    def gain_over(self, name: str) -> Estimate:
        """The other's time over that of Clairvoyant with the truth, within repetitions."""
        pair = self.observed[name] / self.observed[TOLD]
        return estimate(float(np.median(pair)), resample_medians(pair[np.newaxis, :])[0])

    def absorbs(self, name: str, balanced: "Cell") -> float:
        """Which part of the balanced run time of an algorithm hides behind the delay."""
        even = balanced.median(name)
        return (even + self.delay - self.median(name)) / even

    def as_json(self) -> dict[str, Any]:
        best = self.best()
        return {
            "bytes": self.size,
            "run_time": self.run_time,
            "late_by_run_times": self.times,
            "best_of_others": best,
            **self.gain_over(best).as_json("gain"),
            "p": inference.p_value_of_pairs(self.observed[best], self.observed[TOLD]),
            "medians": {name: self.median(name) for name in self.observed},
            "observed": {name: list(map(float, seconds)) for name, seconds in self.observed.items()},
        }


def observe(setting: settings.Setting, request: requests.Request) -> list[dict[str, Array]]:
    """By pattern, in the request's order: seconds of each contender."""
    result = program.measure(setting, request)
    found = []
    for cell in result["sizes"]:
        values = metrics.values(cell, METRIC)
        names = [contender["name"] for contender in cell["contenders"]]
        found.append(dict(zip(names, values, strict=True)))
    return found


def request_of(options: argparse.Namespace, size: int, names: Iterable[str], **more: Any) -> requests.Request:
    contenders = [selection.check_contender("reduce", options.procs, name) for name in names]
    course = {"repetitions": options.repetitions, "batch": 1e-6, "type": "int", **more}
    return requests.Request("reduce", options.procs, [size], contenders, **course)


def measure_late(setting: settings.Setting, options: argparse.Namespace, size: int) -> list[Cell]:
    (alone,) = observe(setting, request_of(options, size, [UNTOLD], repetitions=10))
    run_time = float(np.median(alone[UNTOLD]))
    late = [f"late:{options.procs - 1}:{each * run_time * 1e6:.0f}us" for each in DELAYS if each > 0]
    names = (TOLD, UNTOLD, MISLED, *([BY_NODES] if options.within else []), *RIVALS)
    found = observe(setting, request_of(options, size, names, arrivals=(requests.BALANCED, *late)))
    return [Cell(size, run_time, times, each) for times, each in zip(DELAYS, found, strict=True)]


def measure_trace(setting: settings.Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Sums of run times over all iterations, of vectors in one piece."""
    size = parsing.parse_sizes(options.traced)[0]
    told = (*TRACED, BY_NODES) if options.within else TRACED
    names = [name.replace(UNTOLD, f"{UNTOLD};segments=1") for name in told]
    (alone,) = observe(setting, request_of(options, size, ["binomial"], repetitions=10))
    binomial = float(np.median(alone["binomial"]))
    rows = clairvoyant_atomic.trace(options.procs, options.iterations, binomial)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(" ".join(f"{at:.9f}" for at in row) for row in rows) + "\n")
        file.flush()
        course: dict[str, Any] = {"arrivals": (f"trace:{file.name}",), "repetitions": options.iterations}
        (found,) = observe(setting, request_of(options, size, names, **course))
    reference = found["binomial"]
    seconds = {
        name: {
            "seconds": float(np.sum(values)),
            "of_binomial": float(np.sum(values) / np.sum(reference)),
            "p": inference.p_value_of_pairs(values, reference) if name != "binomial" else None,
        }
        for name, values in found.items()
    }
    return {
        "bytes": size,
        "iterations": options.iterations,
        "spread": binomial,
        "contenders": seconds,
    }


def as_time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def late_table(cells: list[Cell]) -> str:
    has_nodes = BY_NODES in cells[0].observed
    lines = [
        "| bytes | late by | Clairvoyant | best of the others | its time over Clairvoyant's | p "
        f"| without forecast | with a wrong one {'| between nodes ' if has_nodes else ''}"
        "| absorbs | others, most |",
        f"|---:|---:|---:|---|---|---:|---:|---:|{'---:|' if has_nodes else ''}---:|---:|",
    ]
    balanced = {cell.size: cell for cell in cells if cell.times == 0}
    for cell in cells:
        best, even = cell.best(), balanced[cell.size]
        gain = cell.gain_over(best)
        others = max(cell.absorbs(name, even) for name in RIVALS if name in cell.observed)
        hidden = f"{cell.absorbs(TOLD, even):.0%} | {others:.0%}" if cell.times else " | "
        p = inference.p_value_of_pairs(cell.observed[best], cell.observed[TOLD])
        lines.append(
            f"| {_core.format_size(cell.size)} | {cell.times:g} of {as_time(cell.run_time)} "
            f"| {as_time(cell.median(TOLD))} | {best}, {as_time(cell.median(best))} "
            f"| {gain.value:.2f} ({gain.low:.2f} … {gain.high:.2f}) | {p:.2g} "
            f"| {cell.median(UNTOLD) / cell.median(TOLD):.2f} "
            f"| {cell.median(MISLED) / cell.median(TOLD):.2f} "
            + (f"| {cell.median(BY_NODES) / cell.median(TOLD):.2f} " if has_nodes else "")
            + f"| {hidden} |"
        )
    return "\n".join(lines) + "\n"


def sentences(cells: list[Cell]) -> str:
    """What became of the source's findings here."""
    late = [cell for cell in cells if cell.times > 0]
    won = [cell for cell in late if cell.gain_over(cell.best()).low > 1]
    lost = [cell for cell in late if cell.gain_over(cell.best()).high < 1]
    most = max(late, key=lambda cell: cell.gain_over(cell.best()).value)
    balanced = {cell.size: cell for cell in cells if cell.times == 0}
    order = {(cell.size, cell.times): sorted(COMPARED, key=cell.median) for cell in cells}
    kept = [size for size in balanced if all(o == order[size, 0] for (s, _), o in order.items() if s == size)]

    def slowdown(cell: Cell) -> float:
        return cell.median("ring") - cell.delay - balanced[cell.size].median("ring")

    slowed = max(late, key=slowdown)
    even = balanced[slowed.size].median("ring")
    lines = [
        "With the last rank late Clairvoyant with the true forecast is faster than every other one in "
        f"{len(won)} of {len(late)} cells, beyond the interval, and slower than the best of them in "
        f"{len(lost)}; at most {most.gain_over(most.best()).value:.2f} times as fast "
        f"({_core.format_size(most.size)}, {most.times:g} run times). The source: in all, nearly twice.",
        f"The ring's collapse: a delay costs it at most {slowdown(slowed):+.3g} s "
        f"beyond itself ({_core.format_size(slowed.size)}, {slowed.times:g} run times; balanced it takes "
        f"{even:.3g} s). The source: a hundredfold slowdown at 128 KiB.",
        f"The order of {', '.join(COMPARED)} is the balanced one under every delay for {len(kept)} of "
        f"{len(balanced)} sizes. The source: for four of five.",
    ]
    return "\n".join(f"- {line}" for line in lines) + "\n"


def trace_table(found: dict[str, Any]) -> str:
    lines = [
        f"{_core.format_size(found['bytes'])} in one piece, {found['iterations']} iterations, ranks spread "
        f"over {as_time(found['spread'])}: seconds in all.",
        "",
        "| algorithm | seconds | of binomial | p | published, of binomial |",
        "|---|---:|---:|---:|---:|",
    ]
    published = {
        "local_redirect": "local_redirect",
        f"{UNTOLD};segments=1@average": clairvoyant_atomic.AVERAGE,
        f"{UNTOLD};segments=1@truth": clairvoyant_atomic.TRUTH,
    }
    for name, row in found["contenders"].items():
        there = (
            clairvoyant_atomic.PUBLISHED[published[name]] / clairvoyant_atomic.PUBLISHED["binomial"]
            if name in published
            else None
        )
        lines.append(
            f"| {name} | {row['seconds']:.3f} | {row['of_binomial']:.3f} "
            f"| {'' if row['p'] is None else format(row['p'], '.2g')} "
            f"| {'' if there is None else f'{there:.3f}'} |"
        )
    return "\n".join(lines) + "\n"


def draw(cells: list[Cell], path: Path) -> None:
    """Times over that of Clairvoyant with the truth, over the delay; a panel for each size."""
    mpl.rcParams.update({"svg.hashsalt": "convene", "svg.fonttype": "none", "font.size": 9})
    sizes = list(dict.fromkeys(cell.size for cell in cells))
    shown = (
        UNTOLD,
        MISLED,
        "native",
        "binomial",
        "butterfly",
        "ring",
        "radix_k",
        "pipeline",
        "local_redirect",
    )
    figure, panels = plt.subplots(
        1, len(sizes), figsize=(2.6 * len(sizes) + 1.6, 3.4), sharey=True, layout="constrained", squeeze=False
    )
    colours = plt.get_cmap("tab10").colors  # type: ignore[attr-defined]
    for panel, size in zip(panels[0], sizes, strict=True):
        own = [cell for cell in cells if cell.size == size]
        for name, colour, marker in zip(shown, colours, "osv^<>DXP", strict=False):
            ratios = [cell.median(name) / cell.median(TOLD) for cell in own]
            panel.plot(
                [cell.times for cell in own], ratios, color=colour, marker=marker, ms=3.5, lw=1.1, label=name
            )
        panel.axhline(1, color="black", lw=0.8)
        panel.set_title(_core.format_size(size))
        panel.set_xlabel("late by … run times")
        panel.grid(axis="y", lw=0.3)
    panels[0][0].set_yscale("log", base=2)
    panels[0][0].set_ylabel("time / Clairvoyant's, told the truth")
    panels[0][-1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(path, format="svg", metadata={"Date": None})


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--procs", type=int, default=8, help="ranks (default: %(default)s)")
    parser.add_argument(
        "--sizes", default="128KiB,512KiB,2MiB,8MiB,40MiB", help="bytes (default: %(default)s)"
    )
    parser.add_argument("--repetitions", type=int, default=15, help="of a cell (default: %(default)s)")
    parser.add_argument("--traced", default="2MiB", help="bytes of the second part (default: %(default)s)")
    parser.add_argument(
        "--iterations", type=int, default=60, help="of the second part (default: %(default)s)"
    )
    parser.add_argument("--launcher", help="of the MPI (default: mpirun)")
    parser.add_argument("--nodes", type=int, default=0, help="emulated ones; 0: this machine")
    parser.add_argument("--rate", default="1gbit", help="of emulated links (default: %(default)s)")
    parser.add_argument("--within", type=int, help=argparse.SUPPRESS)  # a cluster of so many nodes
    return parser.parse_args()


def within_cluster(options: argparse.Namespace) -> None:
    """This program again, on the first of the emulated nodes."""
    shape = state.Shape(
        options.nodes, slots=-(-options.procs // options.nodes), rate=rates.parse_rate(options.rate)
    )
    with lifecycle.temporary(f"imbalance-{os.getpid()}", shape) as where:
        command = [
            sys.executable,
            "-m",
            "benchmarks.imbalance",
            *sys.argv[1:],
            "--nodes",
            "0",
            "--within",
            str(options.nodes),
        ]
        environment = {**os.environ, **launch.variables(where)}
        done = subprocess.run(launch.command_line(where, 0, command), env=environment, check=False)
    sys.exit(done.returncode)


def main() -> None:
    options = parse_arguments()
    if options.nodes:
        within_cluster(options)
    setting = settings.find_setting(options.launcher, None)
    cells: list[Cell] = []
    output = console.make(error=True)
    sizes = parsing.parse_sizes(options.sizes)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        for size in progress.track(sizes, description="measuring"):
            cells += measure_late(setting, options, size)
    traced = measure_trace(setting, options)
    nodes = options.within
    place = f"{nodes} emulated nodes, links of {options.rate}" if nodes else "one node"
    name = f"imbalance_{nodes}_nodes" if nodes else "imbalance"
    about = (
        f"{options.procs} ranks, {place}; medians of {options.repetitions} repetitions; p: of a permutation "
        "test.\n"
    )
    results = {
        "options": common.asked(options),
        "place": place,
        "cells": [cell.as_json() for cell in cells],
        "trace": traced,
    }
    text = "\n".join((about, late_table(cells), sentences(cells), trace_table(traced)))
    common.keep(options, name, results, text)
    draw(cells, options.output / f"{name}.svg")


if __name__ == "__main__":
    common.run(main)
