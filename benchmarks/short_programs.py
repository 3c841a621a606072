# SPDX-License-Identifier: BSD-3-Clause
"""Short programs under convene run, with learning and without, compared with native runs.

A program (benchmarks/mpi/short_program.cpp) starts natively, natively once more (the control), and as
convene run starts it, with --no-learn and with learning, without wisdom. A repetition runs all four in random
order. A ratio is the median over repetitions of the time over that of the native run: of the launcher, from
its start to its end, and within the program, from before MPI_Init to after MPI_Finalize. Its interval (95 %)
is a bootstrap over repetitions. Writes a summary (JSON) and a table (Markdown).

    ./dev bench short_programs --stacks openmpi4 --repetitions 30
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from convene.base import parsing, progress
from convene.mpi import settings
from convene.run.environment import Learning, Settings, prepare
from convene.stats.bootstrap import estimate, resample_medians

from benchmarks import common
from benchmarks.common.stacks import STACKS, launcher_of, library_of
from benchmarks.decide import is_installed

# By name: calls, and seconds of computation.
PROGRAMS = {
    "starts and ends": (0, 0.0),
    "200 calls": (200, 0.0),
    "2,000 calls": (2000, 0.0),
    "0.2 s, no call": (0, 0.2),
    "0.2 s, 400 calls": (400, 0.2),
}
NATIVE, CONTROL, NO_LEARN, LEARN = "native", "control", "no-learn", "learn"
LEARNING = {NO_LEARN: Learning.NO, LEARN: Learning.YES}
MODES = (NATIVE, CONTROL, NO_LEARN, LEARN)
LIMIT = 60  # seconds of a run
Times = tuple[float, float]  # of the launcher, within the program


def run_once(stack: str, mode: str, program: str, procs: int, wisdom: Path) -> Times:
    folder = library_of(stack)
    found = settings.find_setting(launcher_of(stack), folder)
    calls, seconds = PROGRAMS[program]
    command = [str(found.launcher.path), "-n", str(procs)]
    command += [str(common.built(f"benchmarks/{folder}/short_program")), str(calls), str(seconds)]
    environment, variables = dict(os.environ), settings.mpi_variables(found.launcher, procs)
    with tempfile.TemporaryDirectory(prefix="convene-short-") as profiles:
        if mode in LEARNING:
            chosen = Settings(profile_directory=profiles, wisdom=f"-{wisdom}", learn=LEARNING[mode])
            prepared = prepare(command, folder, chosen.variables())
            command, environment = prepared.command, prepared.environment
        start = time.perf_counter()
        done = subprocess.run(
            command,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        launcher = time.perf_counter() - start
    line = next((each for each in done.stdout.splitlines() if each.startswith("{")), None)
    if done.returncode or line is None:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr[-1000:]}")
    return launcher, json.loads(line)["seconds"]


def ratios(times: dict[str, list[Times]], which: int) -> dict[str, Any]:
    """By mode, of the launcher's times (0) or those within the program (1): the median ratio to native, and
    that of learning to none."""
    seconds = {mode: np.array([each[which] for each in times[mode]]) for mode in MODES}
    pairs = {mode: (seconds[mode], seconds[NATIVE]) for mode in MODES[1:]}
    pairs["learn/no-learn"] = (seconds[LEARN], seconds[NO_LEARN])
    found: dict[str, Any] = {"native": float(np.median(seconds[NATIVE]))}
    for name, (one, other) in pairs.items():
        both = np.array([one / other])
        found[name] = estimate(float(np.median(both)), resample_medians(both)[0]).as_json("ratio")
    return found


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    order = random.Random(options.seed)
    cells = [
        (stack, procs, program)
        for stack in options.stacks.split(",")
        if is_installed(stack)
        for procs in parsing.parse_numbers(options.procs, "--procs", 2, 1024)
        for program in list(PROGRAMS)[: options.programs]
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder, progress.shown("measuring", "programs") as advance:
        for done, (stack, procs, program) in enumerate(cells):
            times: dict[str, list[Times]] = {mode: [] for mode in MODES}
            for _ in range(options.repetitions):
                for mode in order.sample(MODES, len(MODES)):
                    absent = Path(folder) / "wisdom.json"
                    times[mode].append(run_once(stack, mode, program, procs, absent))
                    absent.unlink(missing_ok=True)
            advance(done + 1, len(cells))
            both = {"launcher": ratios(times, 0), "within": ratios(times, 1)}
            rows.append({"stack": stack, "procs": procs, "program": program, **both})
    return rows


def cell_text(found: dict[str, float]) -> str:
    return f"{found['ratio']:.3f} ({found['low']:.3f} … {found['high']:.3f})"


def markdown(results: dict[str, Any]) -> str:
    heads = ("control", "no-learn", "learn", "learn/no-learn")
    lines = [f"| MPI | ranks | program | time of | native, ms | {' | '.join(heads)} |"]
    lines.append("|---|---:|---|---|---:|" + "---|" * len(heads))
    for row in results["rows"]:
        for which, name in (("launcher", "launcher"), ("within", "program")):
            found = row[which]
            cells = " | ".join(cell_text(found[head]) for head in heads)
            place = f"{row['stack']} | {row['procs']} | {row['program']}"
            lines.append(f"| {place} | {name} | {found['native'] * 1e3:.1f} | {cells} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--stacks", default=",".join(STACKS), help="default: all that are installed")
    parser.add_argument("--procs", default="2", help="numbers of ranks (default: %(default)s)")
    parser.add_argument(
        "--programs", type=int, default=len(PROGRAMS), help="run only the first N (default: %(default)s, all)"
    )
    parser.add_argument("--repetitions", type=int, default=30, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the order of runs (default: %(default)s)")
    options = parser.parse_args()
    common.keep(options, "short_programs", {"options": common.asked(options), "rows": measure(options)})


REPORT = common.Report(markdown)


if __name__ == "__main__":
    common.run(main)
