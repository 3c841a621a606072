# SPDX-License-Identifier: BSD-3-Clause
"""Programs under convene run, with wisdom and with learning, compared with native calls.

For each MPI and number of ranks, convene tune first writes wisdom into a file of this benchmark. A program
(benchmarks/mpi/decide.cpp) then runs under convene run: with this wisdom, and with learning and no wisdom.
Its calls, native ones and native ones once more (the control) alternate in one process in random order, with
the root fixed, with the root rotating and between barriers. A cell is a size by a method; its ratio is the
median over repetitions of the time of the program's calls over native. It fails if the ratio exceeds
max(1.03, 1 + 20 ns / native) (MPICH: 80 ns), after Holm's correction; it is undecided if its interval is
wide. Writes a summary (JSON) and a table (Markdown). An interrupted run is resumed.

    ./dev bench decide --quick --stacks openmpi4     (about four minutes)
    ./dev bench decide --estimate                    (how long all stacks take)
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convene import _core
from convene.base import parsing, paths, progress
from convene.base.text import duration_text
from convene.mpi import launchers, settings

from benchmarks import common
from benchmarks.common import decide_tables
from benchmarks.common.observations import Observations
from benchmarks.common.stacks import STACKS, launcher_of, library_of

COLLECTIVES = ("allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce", "scatter")
WISDOM, LEARNING = "wisdom", "learning"
QUICK = {
    "collectives": "allgather,allreduce,bcast",
    "sizes": "8,1KiB,32KiB,1MiB",
    "tune": "60s",
    "starts": 2,
    "warm": 2.0,
}
START, LOST = 1.5, 1.6  # seconds of a start; time of a batch with barriers and control, over its length
PATIENCE = 300.0  # seconds of a program beyond its estimate


@dataclass(frozen=True)
class Program:
    """What one process measures."""

    stack: str
    procs: int
    mode: str
    collective: str

    @property
    def name(self) -> str:
        return f"{self.stack} {self.procs} {self.mode} {self.collective}"

    @property
    def place(self) -> str:
        """What is tuned once."""
        return f"{self.stack} {self.procs}"

    def sizes(self, options: argparse.Namespace) -> list[int]:
        return [0] if self.collective == "barrier" else parsing.parse_sizes(options.sizes)

    def warm(self, options: argparse.Namespace) -> float:
        return float(options.warm) if self.mode == LEARNING else 0.01

    def seconds(self, options: argparse.Namespace) -> float:
        """The estimated duration of a start."""
        methods = 3 if _core.is_rooted(self.collective) else 2
        batches = float(3 * options.repetitions * methods)
        batch = float(options.batch) * 1e-6
        return START + len(self.sizes(options)) * (self.warm(options) + batches * LOST * batch)


def is_installed(stack: str) -> bool:
    return launchers.find_program(launcher_of(stack)) is not None


def finished(command: list[str], environment: dict[str, str], seconds: float) -> str:
    """The output of a command. Ends it, and the ranks of its launcher, if it takes too long."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            output, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)  # convene run passes it on
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=20)
            process.kill()
            raise RuntimeError(f"{' '.join(command)}: no end after {seconds:.0f} s") from None
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: status {process.returncode}: {(said or output)[-1000:]}")
    return output


def tune(program: Program, wisdom: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Writes wisdom of one stack and number of ranks."""
    words = [sys.executable, "-m", "convene", "tune", *options.collectives.split(","), "--json"]
    words += ["-n", str(program.procs), "--sizes", options.sizes, "--budget", options.tune, "-o", str(wisdom)]
    words += ["--launcher", launcher_of(program.stack), "--stack", library_of(program.stack)]
    words += ["--seed", str(options.seed)]
    since = time.monotonic()
    limit = parsing.parse_budget(options.tune) + PATIENCE
    found = json.loads(finished(words, dict(os.environ), limit))
    measured = {cell["collective"] for cell in found["cells"]}
    return {
        "stack": program.stack,
        "procs": program.procs,
        "seconds": time.monotonic() - since,
        "choices": sum(cell["choice"] != "native" for cell in found["cells"]),
        "cells": len(found["cells"]),
        "not_measured": [each for each in options.collectives.split(",") if each not in measured],
    }


def run_once(program: Program, wisdom: Path, start: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Seconds by cell (see the program)."""
    folder = library_of(program.stack)
    found = settings.find_setting(launcher_of(program.stack), folder)
    variables = settings.mpi_variables(found.launcher, program.procs)
    words = [sys.executable, "-m", "convene", "run", "--stack", folder]
    if program.mode == LEARNING:
        fresh = wisdom.with_name(f"decide_learned_{os.getpid()}.json")
        fresh.unlink(missing_ok=True)
        words += ["--learn", "--wisdom", str(fresh)]
    else:
        words += ["--no-learn", "--wisdom", str(wisdom)]
    words += ["--", str(found.launcher.path), "-n", str(program.procs)]
    words += [str(common.built(f"benchmarks/{folder}/decide")), program.collective]
    words += [",".join(map(str, program.sizes(options))), str(options.repetitions)]
    words += [str(options.batch * 1e-6), str(program.warm(options)), str(options.seed + start)]
    try:
        output = finished(words, {**os.environ, **variables}, program.seconds(options) * 3 + PATIENCE)
    finally:
        if program.mode == LEARNING:
            fresh.unlink(missing_ok=True)
    return [json.loads(line) for line in output.splitlines() if line.startswith('{"collective"')]


def programs_of(options: argparse.Namespace) -> list[Program]:
    return [
        Program(stack, procs, mode, collective)
        for stack in options.stacks.split(",")
        for procs in parsing.parse_numbers(options.procs, "--procs", 2, 1024)
        for mode in options.modes.split(",")
        for collective in options.collectives.split(",")
    ]


def work(programs: list[Program], options: argparse.Namespace) -> Iterator[tuple[Program, str, float]]:
    """What is to be done, in order, with its estimated seconds: each place is tuned before it is measured."""
    places = {each.place: each for each in programs if each.mode == WISDOM}
    for each in places.values():
        yield each, f"tune {each.place}", parsing.parse_budget(options.tune)
    order = random.Random(options.seed)
    for _ in range(options.starts):
        for each in order.sample(programs, len(programs)):
            yield each, each.name, each.seconds(options)


def measure(programs: list[Program], wisdom: Path, kept: Observations, options: argparse.Namespace) -> None:
    """All that is left to do, until time is up."""
    tasks = list(work(programs, options))
    total = sum(seconds for *_, seconds in tasks)
    end, passed, seen = time.monotonic() + 60 * options.minutes, 0.0, dict.fromkeys((t[1] for t in tasks), 0)
    with progress.shown("measuring", "programs") as advance:
        for at, (program, name, seconds) in enumerate(tasks):
            advance(at, len(tasks), passed / total)
            passed += seconds
            seen[name] += 1
            if len(kept.runs(name)) >= seen[name]:
                continue
            if time.monotonic() > end:
                print(f"stopped after {options.minutes:g} minutes; the same command resumes", file=sys.stderr)
                return
            if name.startswith("tune "):
                kept.runs(name).append(tune(program, wisdom, options))
            else:
                kept.runs(name).append(run_once(program, wisdom, seen[name], options))
            kept.write()


def observed(programs: list[Program], kept: Observations) -> list[decide_tables.Observed]:
    """All cells, of all starts."""
    return [
        decide_tables.Observed(each.stack, each.procs, each.mode, each.collective, starts)
        for each in programs
        for starts in zip(*kept.runs(each.name), strict=True)
    ]


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    installed = ",".join(stack for stack in STACKS if is_installed(stack))
    parser.add_argument("--stacks", default=installed, help="those installed here (default: %(default)s)")
    parser.add_argument("--procs", default="2,4", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--modes", default=f"{WISDOM},{LEARNING}", help="default: %(default)s")
    parser.add_argument(
        "--collectives",
        default="allgather,allreduce,alltoall,barrier,bcast,reduce",
        help="default: %(default)s",
    )
    parser.add_argument("--sizes", default="8:4MiB:8,4MiB", help="bytes (default: %(default)s)")
    parser.add_argument("--tune", default="3min", help="budget of each convene tune (default: %(default)s)")
    parser.add_argument("--starts", type=int, default=3, help="of each program (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=101, help="in each start (default: %(default)s)")
    parser.add_argument("--batch", type=float, default=250, help="microseconds (default: %(default)s)")
    parser.add_argument("--warm", type=float, default=3, help="seconds to learn (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=60, help="stop after (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="three collectives, four sizes, two starts")
    parser.add_argument("--estimate", action="store_true", help="print how long it takes, and end")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(
            {
                name: value
                for name, value in QUICK.items()
                if getattr(options, name) == parser.get_default(name)
            }
        )
    return options


def check(options: argparse.Namespace) -> None:
    known = {"stacks": list(STACKS), "modes": [WISDOM, LEARNING], "collectives": list(COLLECTIVES)}
    for option, names in known.items():
        common.chosen(getattr(options, option), names, option.removesuffix("s"))
    for stack in options.stacks.split(","):
        if not is_installed(stack):
            raise _core.RequestError(f"{stack} is not installed here: there is no {launcher_of(stack)}")
    if any(size % 8 or not size for size in parsing.parse_sizes(options.sizes)):
        raise _core.RequestError("--sizes must be multiples of 8 bytes above 0")


def main() -> None:
    options = parse_arguments()
    for name in settings.OVERSUBSCRIBED:  # whoever starts this
        os.environ.pop(name, None)
    check(options)
    programs = programs_of(options)
    estimate = sum(seconds for *_, seconds in work(programs, options))
    text = f"{len(programs)} programs, {options.starts} starts each: about {duration_text(estimate)}"
    print(f"{text}; at most {options.minutes:g} minutes", file=sys.stderr)
    if options.estimate:
        return
    libraries = [paths.preload_library(library_of(stack)).read_bytes() for stack in options.stacks.split(",")]
    same = ("collectives", "sizes", "tune", "repetitions", "batch", "warm", "seed")
    key = " ".join([hashlib.sha256(b"".join(libraries)).hexdigest(), *(str(vars(options)[x]) for x in same)])
    kept = Observations(options.output / "decide_observations.json", key)
    wisdom = options.output / "decide_wisdom.json"
    if not kept.data["runs"]:
        options.output.mkdir(parents=True, exist_ok=True)
        wisdom.write_text('{"convene_wisdom": 1, "entries": []}\n')
        wisdom.chmod(0o644)
    measure(programs, wisdom, kept, options)
    cells = observed(programs, kept)
    if not cells:
        raise RuntimeError("no program was measured; give more --minutes")
    tuned = [each for name, runs in kept.data["runs"].items() if name.startswith("tune ") for each in runs]
    result = decide_tables.summary(cells, tuned)
    common.keep(
        options,
        "decide",
        {"options": {k: str(v) for k, v in common.asked(options).items()}, **result},
        kept.data,
    )


REPORT = common.Report(decide_tables.markdown)


if __name__ == "__main__":
    common.run(main)
