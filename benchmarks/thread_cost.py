# SPDX-License-Identifier: BSD-3-Clause
"""What the progress thread costs while it has nothing to do, and what MPI_THREAD_MULTIPLE costs.

A program with the drop-in library and native algorithms, on one rank a core: it makes short calls and
then only computes. Runs with MPI_THREAD_SINGLE, with MPI_THREAD_MULTIPLE, and with that and Convene's thread
take turns. Writes every run and the median ratios (JSON), and a table (Markdown).
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from convene import _core
from convene.base import console, paths
from convene.mpi.settings import Setting, command_line, find_setting, mpi_variables
from convene.mpi.stacks import MPIS
from convene.run import profiles
from convene.stats.bootstrap import Estimate, estimate, resample_medians
from rich.progress import Progress

from benchmarks import common

KINDS = ("single", "multiple", "thread")
# Columns of the table: what was measured, with which kind of run, over another one.
RATIOS = {
    "allgather: MULTIPLE to SINGLE": ("allgather", "multiple", "single"),
    "round trip: MULTIPLE to SINGLE": ("round_trip", "multiple", "single"),
    "allgather: with the thread": ("allgather", "thread", "multiple"),
    "computation: thread to none": ("steps_per_second", "multiple", "thread"),
}


@dataclass
class Runs:
    """All runs with one MPI, by kind and repetition."""

    mpi: str = ""
    measured: dict[str, list[dict[str, float]]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def ratio(self, what: str, kind: str, to: str) -> Estimate:
        """The median over the repetitions of the ratio within each."""
        values = [np.array([run[what] for run in self.measured[one]]) for one in (kind, to)]
        ratios = values[0] / values[1]
        return estimate(float(np.median(ratios)), resample_medians(ratios[np.newaxis, :])[0])

    def median(self, what: str, kind: str) -> float:
        return float(np.median([run[what] for run in self.measured[kind]]))

    def as_json(self) -> dict[str, Any]:
        return {"mpi": self.mpi, "runs": self.measured}

    def summary(self, seconds: float) -> dict[str, Any]:
        ratios = {name: self.ratio(*which).as_json("ratio") for name, which in RATIOS.items()}
        medians = {
            kind: {what: self.median(what, kind) for what in runs[0]} for kind, runs in self.measured.items()
        }
        share = self.median("thread_seconds", "thread") / seconds
        return {"mpi": self.mpi, "ratios": ratios, "thread_share": share, "medians": medians}


def run_once(setting: Setting, kind: str, options: argparse.Namespace) -> tuple[dict[str, float], str]:
    """What one run measured, and which MPI it had."""
    level = "single" if kind == "single" else "multiple"
    arguments = [level, str(options.calls), str(options.seconds)]
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        own = {
            "CONVENE_PROFILE_DIR": folder,
            "CONVENE_PROGRESS_THREAD": "1" if kind == "thread" else "0",
            "CONVENE_USE": "alltoall=linear",  # of one call; the others are native
        }
        variables = {**mpi_variables(setting.launcher, options.procs), **own}
        passed = {name: variables[name] for name in variables if name in {*own, "LD_LIBRARY_PATH"}}
        done = subprocess.run(
            command_line(setting, options.procs, arguments, passed),
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=300,
        )
        found = profiles.read(Path(folder))
    used = found.background
    if kind == "thread" and used.ran != options.procs:
        raise RuntimeError(f"{used.ran} of {options.procs} ranks had a thread")
    measured: dict[str, float] = json.loads(done.stdout[done.stdout.index("{") :])
    return {**measured, "thread_seconds": used.cpu_seconds / options.procs}, found.libraries[0].split(",")[0]


def text(value: dict[str, float]) -> str:
    return f"{value['ratio']:.3f} ({value['low']:.3f} … {value['high']:.3f})"


def markdown(result: dict[str, Any]) -> str:
    options = result["options"]
    lines = [
        f"{options['procs']} ranks, {options['repetitions']} runs of each kind in random order, "
        f"{options['calls']} calls of 8 bytes, {options['seconds']:g} s of computation; medians of the "
        "ratios within a repetition, with 95 % intervals.",
        "",
        f"| MPI | {' | '.join(RATIOS)} | the idle thread's processor time |",
        "|---|---|---|---|---|---:|",
    ]
    for row in result["results"]:
        ratios = " | ".join(text(row["ratios"][name]) for name in RATIOS)
        lines.append(f"| {row['mpi']} | {ratios} | {row['thread_share']:.2%} |")
    return "\n".join(lines) + "\n"


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--procs", type=int, default=2, help="ranks (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=10, help="(default: %(default)s)")
    parser.add_argument("--calls", type=int, default=20_000, help="(default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1, help="of computation (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    shuffle = random.Random(options.seed).shuffle
    settings: dict[str, Setting] = {}
    for launcher, stack in MPIS:
        try:
            settings[launcher] = replace(
                find_setting(launcher, stack),
                program=common.built(f"benchmarks/{stack}/thread_cost"),
                preload=paths.preload_library(stack),
            )
        except _core.RequestError as error:
            console.complain(f"left out: {error}")
    results = {name: Runs() for name in settings}
    output = console.make(error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        for _ in progress.track(range(options.repetitions), description="measuring"):
            order = [(name, kind) for name in settings for kind in KINDS]
            shuffle(order)
            for name, kind in order:
                measured, results[name].mpi = run_once(settings[name], kind, options)
                results[name].measured[kind].append(measured)
    asked = common.asked(options)
    summary = {"options": asked, "results": [runs.summary(options.seconds) for runs in results.values()]}
    raw = {"options": asked, "results": [runs.as_json() for runs in results.values()]}
    common.keep(options, "thread_cost", summary, raw)


REPORT = common.Report(markdown)


if __name__ == "__main__":
    common.run(main)
