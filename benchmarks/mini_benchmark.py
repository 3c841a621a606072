# SPDX-License-Identifier: BSD-3-Clause
"""The mini-benchmark of Proficz 2021 (Listing 4): allgather with late ranks and declared phases.

On nodes that are emulated on this machine (root only), one rank each, with links of limited rate. Each rank
computes twice for 100 ms and half of a random delay, and declares an edge in the middle; what counts is the
average elapsed time of the call. Writes what the observations come to (JSON), and tables in the
source's layout (Markdown): the fastest algorithm of each cell and, where that is one which uses forecasts,
its gain over the best that does not.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from convene import _core
from convene.cluster import launch, lifecycle, rates, state
from convene.run import profiles
from convene.studies.mini_benchmark import phases
from convene.studies.mini_benchmark.phases import FORECASTING, SHORT, Cell

from benchmarks import common

FOLDERS = {"openmpi5": "openmpi", "mpich5": "abi"}


def parse_algorithms(text: str) -> str:
    """Names as Convene or as the source's tables have them."""
    names = {short: name for name, short in SHORT.items()}
    words = [part.split(";") for part in text.split(",")]
    parts = [";".join([names.get(name, name), *parameters]) for name, *parameters in words]
    known = ["native", *(str(algorithm["name"]) for algorithm in _core.algorithms("allgather"))]
    for part in parts:
        if part.split(";")[0] not in known:
            raise argparse.ArgumentTypeError(
                f"there is no allgather algorithm {part!r}; convene list allgather has them"
            )
    if len({phases.uses_forecasts(part) for part in parts}) < 2:
        raise argparse.ArgumentTypeError(
            f"name at least one of {', '.join(FORECASTING)} and one other, to compare"
        )
    return ",".join(parts)


def measure(options: argparse.Namespace, profiles_in: str) -> tuple[list[Cell], float]:
    """The cells, and the seconds that it took."""
    program = common.ROOT / "build/benchmarks" / FOLDERS[options.stack] / "mini_benchmark"
    launcher = (
        common.ROOT
        / ".stacks"
        / options.stack
        / "bin"
        / ("mpirun" if options.stack == "openmpi5" else "mpiexec")
    )
    shape = state.Shape(options.procs, rate=rates.parse_rate(options.rate) if options.rate else 0)
    words = [
        str(program),
        *("--algorithms", options.algorithms),
        *("--floats", options.floats),
        *("--delays", options.delays),
        *("--compute", str(options.compute)),
        *("--iterations", str(options.iterations)),
        *("--seed", str(options.seed)),
    ]
    variables = {
        "CONVENE_PROGRESS_THREAD": "0" if options.foreground else "1",
        "CONVENE_PROFILE_DIR": profiles_in,
    }
    passed = [word for name in variables for word in ("-x", name)] if options.stack == "openmpi5" else []
    # With this one, Open MPI 5 puts all ranks on the first node.
    ours = {
        name: value for name, value in os.environ.items() if name != "PRTE_MCA_rmaps_default_mapping_policy"
    }
    # The programs find the library beside them, and the MPI of the launcher first.
    ours["LD_LIBRARY_PATH"] = str(common.ROOT / ".stacks" / options.stack / "lib")
    start = time.monotonic()
    with lifecycle.temporary(f"mini-{os.getpid()}", shape) as where:
        command = [str(launcher), "-n", str(options.procs), *passed, *words]
        done = subprocess.run(
            launch.command_line(where, 0, command),
            env={**ours, **variables, **launch.variables(where)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"the mini-benchmark has ended with status {done.returncode}")
    cells = [Cell.measured(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("{")]
    return cells, time.monotonic() - start


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--procs", type=int, default=8, help="ranks, one a node (default: %(default)s)")
    parser.add_argument(
        "--rate", default="200mbit", help="of each node's link; empty: unlimited (%(default)s)"
    )
    parser.add_argument("--floats", default="262144,1048576", help="in total (default: %(default)s)")
    parser.add_argument("--delays", default="0,5,50,100,500", help="greatest, ms (default: %(default)s)")
    parser.add_argument("--compute", type=float, default=100, help="ms of each half (default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=8, help="of a cell (default: %(default)s)")
    parser.add_argument(
        "--algorithms",
        type=parse_algorithms,
        default=",".join(SHORT),
        help="such as ring,sparbit,bdr (default: those of the source, and list_scheduled)",
    )
    parser.add_argument("--stack", choices=FOLDERS, default="openmpi5", help="(default: %(default)s)")
    parser.add_argument("--foreground", action="store_true", help="without the threads")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        cells, seconds = measure(options, folder)
        found = profiles.read(Path(folder))
    title = (
        f"{options.procs} ranks on as many emulated nodes, links of {options.rate or 'any rate'}, "
        f"{options.stack}, {options.iterations} iterations, {options.compute:g} ms a half, progress in the "
        f"{'foreground' if options.foreground else 'background'}."
    )
    result = {
        "about": title,
        "forecasts_text": phases.forecasts(found, seconds),
        "options": common.asked(options),
        "cells": [cell.as_json() for cell in cells],
        "forecasts": [row.as_json() for row in found.phases],
        "progress_thread": found.background.as_json() | {"seconds_of_the_run": seconds},
    }
    raw = {**result, "observed": [cell.observed() for cell in cells]}
    common.keep(options, "mini_benchmark", result, raw)


def as_text(result: dict[str, Any]) -> str:
    cells = [Cell.from_json(row) for row in result["cells"]]
    return phases.markdown(cells, result["about"]) + f"\nForecasts: {result['forecasts_text']}.\n"


REPORT = common.Report(as_text)


if __name__ == "__main__":
    common.run(main)
