# SPDX-License-Identifier: BSD-3-Clause
"""Time that a preloaded drop-in library adds to the start of a program without MPI.

/bin/true runs without a library and with each drop-in library, in turns. The difference of the medians is
what the loader and the library's initialisers take. Writes a summary (JSON) and a table (Markdown).
"""

import os
import subprocess
import time
from typing import Any

import numpy as np
from convene.base import paths
from convene.mpi import stacks
from convene.stats.bootstrap import estimate, resample_medians

from benchmarks import common

PROGRAM = "/bin/true"


def seconds_of_a_run(library: str | None) -> float:
    variables = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    if library:
        variables["LD_PRELOAD"] = library
    start = time.perf_counter()
    process = os.posix_spawn(PROGRAM, [PROGRAM], variables)
    os.waitpid(process, 0)
    return time.perf_counter() - start


def measure(repetitions: int) -> list[dict[str, Any]]:
    libraries = {stack: str(paths.preload_library(stack)) for stack in stacks.STACKS}
    choices: list[str | None] = [None, *libraries.values()]
    observed = np.array([[seconds_of_a_run(each) for each in choices] for _ in range(repetitions)]).T
    medians, samples = np.median(observed, axis=1), resample_medians(observed)
    return [
        {
            "library": stack,
            "plain": medians[0],
            **estimate(medians[i] - medians[0], samples[i] - samples[0]).as_json("seconds"),
        }
        for i, stack in enumerate(libraries, 1)
    ]


def markdown(results: dict[str, Any]) -> str:
    lines = ["| library for | plain start, ms | added, ms | 95 % |", "|---|---:|---:|---|"]
    lines += [
        f"| {row['library']} | {row['plain'] * 1e3:.2f} | {row['seconds'] * 1e3:.2f} "
        f"| {row['low'] * 1e3:.2f} … {row['high'] * 1e3:.2f} |"
        for row in results["rows"]
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--repetitions", type=int, default=500, help="default: %(default)s")
    options = parser.parse_args()
    subprocess.run([PROGRAM], check=True)
    common.keep(options, "start_up", {"options": common.asked(options), "rows": measure(options.repetitions)})


REPORT = common.Report(markdown)


if __name__ == "__main__":
    common.run(main)
