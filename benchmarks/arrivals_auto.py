# SPDX-License-Identifier: BSD-3-Clause
"""What `convene run --arrivals auto` gains where a rank is always late, and costs where none is.

An ordinary program, in C, with mpi4py or in Fortran, computes, calls and begins again; the same rank computes
longer, or each in its turn.
Every repetition runs it once with each contender, in random order: with the native algorithm, with
arrivals watched (and, of allgather, with progress in the background besides), and with regular algorithms
forced; with and without the imbalance. On nodes that are emulated on this machine (root only) with links of
limited rate. Writes all times of the loop and their ratios (JSON), and a table.
"""

import argparse
import os
import random
import re
import subprocess
import sys
from typing import Any

import numpy as np
from convene.base import paths
from convene.cluster import launch, lifecycle, rates, state
from convene.stats.bootstrap import Estimate, estimate, resample_medians

from benchmarks import common

OPENMPI5 = common.ROOT / ".stacks/openmpi5"
BUILT = common.ROOT / "build/tests/openmpi"
# By program: the launcher, where its libraries are, and what to start.
PROGRAMS: dict[str, tuple[str, str, list[str]]] = {
    "c": (str(OPENMPI5 / "bin/mpirun"), str(OPENMPI5 / "lib"), [str(BUILT / "imbalanced")]),
    "mpi4py": (
        str(OPENMPI5 / "bin/mpirun"),
        str(OPENMPI5 / "lib"),
        [sys.executable, str(common.ROOT / "tests/mpi/imbalanced.py")],
    ),
    # Open MPI 5 comes without Fortran here.
    "fortran": ("mpirun.openmpi", "", [str(BUILT / "imbalanced_f08")]),
}
NATIVE, AUTO, AHEAD = "native", "auto", "auto+thread"
REGULAR = {
    "allgather": "ring,neighbor_exchange,recursive_doubling,sparbit",
    "allreduce": "ring,segmented_ring,rabenseifner,recursive_doubling",
    "reduce": "binomial,pipeline,two_tree,butterfly",
}
LOOP = re.compile(r"([\d.]+) s in the loop, ([\d.]+) s in the calls")


def variables(contender: str, collective: str) -> dict[str, str]:
    if contender == NATIVE:
        return {}
    if contender == AUTO:
        return {"CONVENE_ARRIVALS": "auto"}
    if contender == AHEAD:
        return {"CONVENE_ARRIVALS": "auto", "CONVENE_PROGRESS_THREAD": "1"}
    return {"CONVENE_USE": f"{collective}={contender}"}


def run_once(where: state.Cluster, contender: str, extra: float, options: argparse.Namespace) -> float:
    """Seconds of the loop."""
    own = variables(contender, options.collective)
    passed = [word for name in own for word in ("-x", name)]
    launcher, libraries, program = PROGRAMS[options.program]
    words = [
        *(launcher, "-n", str(options.procs)),
        *("-x", f"LD_PRELOAD={paths.preload_library('openmpi')}"),
        *passed,
        *program,
        *(str(options.calls), str(options.floats), str(extra), str(options.compute)),
        *(options.collective, *(["rotating"] if options.rotating else [])),
    ]
    environment = {**os.environ, **own, **launch.variables(where)}
    # With this one, Open MPI 5 puts all ranks on the first node.
    environment.pop("PRTE_MCA_rmaps_default_mapping_policy", None)
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries
    done = subprocess.run(
        launch.command_line(where, 0, words), env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    found = LOOP.search(done.stdout)
    if done.returncode != 0 or not found:
        raise RuntimeError(f"{contender}: status {done.returncode}: {done.stdout[-300:]}")
    return float(found[1])


def measure(options: argparse.Namespace) -> dict[float, dict[str, list[float]]]:
    """Seconds by imbalance and contender."""
    contenders = options.contenders.split(",")
    imbalances = [float(text) for text in options.extra.split(",")]
    result: dict[float, dict[str, list[float]]] = {
        extra: {name: [] for name in contenders} for extra in imbalances
    }
    shuffle = random.Random(options.seed).shuffle
    shape = state.Shape(options.procs, rate=rates.parse_rate(options.rate) if options.rate else 0)
    with lifecycle.temporary(f"auto-{os.getpid()}", shape) as where:
        for _ in range(options.repetitions):
            order = [(extra, name) for extra in imbalances for name in contenders]
            shuffle(order)
            for extra, name in order:
                result[extra][name].append(run_once(where, name, extra, options))
    return result


def ratio(times: dict[str, list[float]], name: str, to: str) -> Estimate:
    """The median over the repetitions of the ratio within each."""
    ratios = np.array(times[name]) / np.array(times[to])
    return estimate(float(np.median(ratios)), resample_medians(ratios[np.newaxis, :])[0])


def text(row: dict[str, Any]) -> str:
    return f"{row['ratio']:.3f} ({row['low']:.3f} … {row['high']:.3f})"


def markdown(result: dict[str, Any]) -> str:
    options = result["options"]
    who = "each in its turn" if options.get("rotating") else "one rank"
    languages = {"c": "", "mpi4py": "With mpi4py: ", "fortran": "In Fortran, Open MPI 4: "}
    lines = [
        f"{languages[options.get('program', 'c')]}{options['procs']} ranks on as many emulated nodes, links "
        f"of {options['rate'] or 'any rate'}; {options['calls']} calls of {options['collective']}, "
        f"{4 * options['floats'] // 1024} KiB a rank, {options['compute']:g} ms of computation before each; "
        f"{options['repetitions']} repetitions. Median seconds of the whole loop, and the median ratio to "
        "native (95 % interval).",
        "",
        f"| {who} later by (ms) | contender | seconds | of native |",
        "|---:|---|---:|---|",
    ]
    for row in result["results"]:
        part = "" if row["contender"] == NATIVE else text(row)
        lines.append(f"| {row['extra_ms']:g} | {row['contender']} | {row['seconds']:.2f} | {part} |")
    return "\n".join(lines) + "\n"


REPORT = common.Report(markdown)


def as_json(times: dict[float, dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Medians of the loop's seconds, and of the ratios to native."""
    return [
        {
            "extra_ms": extra,
            "contender": name,
            "seconds": float(np.median(seconds)),
            **({} if name == NATIVE else ratio(own, name, NATIVE).as_json("ratio")),
        }
        for extra, own in times.items()
        for name, seconds in own.items()
    ]


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--program", choices=PROGRAMS, default="c", help="(default: %(default)s)")
    parser.add_argument("--procs", type=int, default=8, help="ranks, one a node (default: %(default)s)")
    parser.add_argument(
        "--rate", default="200mbit", help="of each node's link; empty: unlimited (%(default)s)"
    )
    parser.add_argument("--calls", type=int, default=200, help="(default: %(default)s)")
    parser.add_argument("--floats", type=int, default=16384, help="of each rank (default: %(default)s)")
    parser.add_argument("--extra", default="0,25", help="ms that one rank is late (default: %(default)s)")
    parser.add_argument("--compute", type=float, default=5, help="ms before each call (default: %(default)s)")
    parser.add_argument("--collective", choices=REGULAR, default="allreduce", help="(default: %(default)s)")
    parser.add_argument("--rotating", action="store_true", help="each rank is late in its turn")
    parser.add_argument("--contenders", help="(default: native, auto and the regular algorithms)")
    parser.add_argument("--repetitions", type=int, default=10, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    watched = f"{AUTO},{AHEAD}" if options.collective == "allgather" else AUTO
    options.contenders = options.contenders or f"{NATIVE},{watched},{REGULAR[options.collective]}"
    return options


def main() -> None:
    options = parse_arguments()
    times = measure(options)
    asked = common.asked(options)
    kind = "_rotating" if options.rotating else ""
    kind += "" if options.program == "c" else f"_{options.program}"
    name = f"arrivals_auto_{options.collective}{kind}"
    common.keep(
        options, name, {"options": asked, "results": as_json(times)}, {"options": asked, "seconds": times}
    )


if __name__ == "__main__":
    common.run(main)
