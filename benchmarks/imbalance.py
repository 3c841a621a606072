# SPDX-License-Identifier: BSD-3-Clause
"""Reductions with late ranks, in the manner of the Clairvoyant work (Marendic et al. 2016, Algorithm 2).

First the last rank is late by 0 … 5 run times of Clairvoyant, for each size, with all algorithms by turns in
one run: Clairvoyant with the true forecast, without one, and with a wrong one, and the others, the native
among them. Then, in each of many iterations, ranks arrive as in a trace whose levels drift; Clairvoyant has
no forecast, the mean of the last five iterations, or the true arrivals (section 6.2). On this machine, or on
nodes that are emulated on it (--nodes, root only). Writes a summary of every cell (JSON), tables (Markdown)
and a figure (SVG)."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from convene.base import console, parsing
from convene.bench import metrics, program, requests
from convene.catalogue import selection
from convene.cluster import launch, lifecycle, rates, state
from convene.mpi import settings
from convene.stats import inference
from convene.stats.bootstrap import Array, Estimate, estimate, resample_medians
from convene.studies.clairvoyant import atomic as clairvoyant_atomic
from rich.progress import Progress

from benchmarks import common
from benchmarks.common import imbalance_tables
from benchmarks.common.imbalance_tables import (
    AVERAGE,
    BASELINES,
    BY_NODES,
    NO_FORECAST,
    TRUE_FORECAST,
    WRONG_FORECAST,
)

TRACED = ("native", "binomial", "local_redirect", NO_FORECAST, AVERAGE, TRUE_FORECAST, WRONG_FORECAST)
METRIC = metrics.METRICS["run_time"]  # first arrival to last exit
DELAYS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0)  # in run times


@dataclass(frozen=True)
class Measured:
    """All algorithms at one size, with the last rank late by so many run times."""

    size: int
    run_time: float  # of Clairvoyant, when all come at once: seconds
    times: float  # of that, by which the last rank is late
    observed: dict[str, Array]  # seconds, by repetition

    def median(self, name: str) -> float:
        return float(np.median(self.observed[name]))

    def best(self, names: Iterable[str] = BASELINES) -> str:
        return min((name for name in names if name in self.observed), key=self.median)

    def gain_over(self, name: str) -> Estimate:
        """The other's time over that of Clairvoyant with the truth, within repetitions."""
        pair = self.observed[name] / self.observed[TRUE_FORECAST]
        return estimate(float(np.median(pair)), resample_medians(pair[np.newaxis, :])[0])

    def as_json(self) -> dict[str, Any]:
        best = self.best()
        return {
            "bytes": self.size,
            "run_time": self.run_time,
            "late_by_run_times": self.times,
            "best_of_others": best,
            **self.gain_over(best).as_json("gain"),
            "p": inference.p_value_of_pairs(self.observed[best], self.observed[TRUE_FORECAST]),
            "medians": {name: self.median(name) for name in self.observed},
        }

    def raw(self) -> dict[str, Any]:
        observed = {name: list(map(float, seconds)) for name, seconds in self.observed.items()}
        return {**self.as_json(), "observed": observed}


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


def measure_late(setting: settings.Setting, options: argparse.Namespace, size: int) -> list[Measured]:
    (alone,) = observe(setting, request_of(options, size, [NO_FORECAST], repetitions=10))
    run_time = float(np.median(alone[NO_FORECAST]))
    late = [f"late:{options.procs - 1}:{each * run_time * 1e6:.0f}us" for each in DELAYS if each > 0]
    names = (TRUE_FORECAST, NO_FORECAST, WRONG_FORECAST, *([BY_NODES] if options.within else []), *BASELINES)
    found = observe(setting, request_of(options, size, names, arrivals=(requests.BALANCED, *late)))
    return [Measured(size, run_time, times, each) for times, each in zip(DELAYS, found, strict=True)]


def measure_trace(setting: settings.Setting, options: argparse.Namespace) -> dict[str, Any]:
    """Sums of run times over all iterations, of vectors in one piece."""
    size = parsing.parse_sizes(options.traced)[0]
    variants = (*TRACED, BY_NODES) if options.within else TRACED
    names = [name.replace(NO_FORECAST, f"{NO_FORECAST};segments=1") for name in variants]
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
    cells: list[Measured] = []
    output = console.make(error=True)
    sizes = parsing.parse_sizes(options.sizes)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        for size in progress.track(sizes, description="measuring"):
            cells += measure_late(setting, options, size)
    traced = measure_trace(setting, options)
    nodes = options.within
    place = f"{nodes} emulated nodes, links of {options.rate}" if nodes else "one node"
    name = f"imbalance_{nodes}_nodes" if nodes else "imbalance"
    result = {
        "options": common.asked(options),
        "place": place,
        "cells": [cell.as_json() for cell in cells],
        "trace": traced,
    }
    common.keep(options, name, result, {**result, "cells": [cell.raw() for cell in cells]})


REPORT = imbalance_tables.REPORT


if __name__ == "__main__":
    common.run(main)
