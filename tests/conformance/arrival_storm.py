# SPDX-License-Identifier: BSD-3-Clause
"""Everything that uses forecasts, at random and at the same time (python -m tests.conformance.arrival_storm).

By default an hour in all: three stacks, 1 to 8 ranks, without and with progress in the background."""

import argparse
import sys

from tests.conformance.random_calls import program_of
from tests.conformance.stacks import Stack, all_stacks

PROGRAM = "arrival_storm"
STACKS = ("openmpi4", "openmpi5", "mpich5")
PROCS = (1, 2, 3, 4, 6, 8)
MODES = {"no thread": {}, "thread": {"CONVENE_PROGRESS_THREAD": "1"}}


def problem_of(stack: Stack, procs: int, mode: str, minutes: float, seed: int) -> str:
    """What went wrong; empty where all results were right."""
    done = stack.run(
        procs,
        [program_of(stack, PROGRAM), "--minutes", str(minutes), "--seed", str(seed)],
        {"CONVENE_ARRIVALS": "auto", **MODES[mode]},
        preload=False,
        timeout=minutes * 60 + 300,
    )
    return done.problem()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.arrival_storm", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="in all (60)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run (1)")
    parser.add_argument("--stack", action="append", choices=list(all_stacks()), help=f"default: {STACKS}")
    parser.add_argument("--procs", action="append", type=int, help="default: 1, 2, 3, 4, 6 and 8")
    asked = parser.parse_args()
    stacks = [stack for name in asked.stack or STACKS if (stack := all_stacks()[name]).is_here()]
    runs = [(stack, procs, mode) for stack in stacks for procs in asked.procs or PROCS for mode in MODES]
    failures = 0
    for number, (stack, procs, mode) in enumerate(runs):
        seed = asked.seed + 100_000 * number
        problem = problem_of(stack, procs, mode, asked.minutes / len(runs), seed)
        print(f"{stack.name} -n {procs}, {mode}, seed {seed}: {problem or 'all right'}", flush=True)
        failures += bool(problem)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
