# SPDX-License-Identifier: BSD-3-Clause
"""Calls above 2^31 bytes on two ranks (python -m tests.conformance.large): up to 15 GiB, some minutes.

Blocks of allgather and allgatherv; with --reductions vectors of the reductions."""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.stacks import Done, Stack, all_stacks

# Together more than 2^31 bytes in one call; and more than that in one block, so in one message.
MEBIBYTES = {"contiguous": (1200, 2200), "bytes": (1200, 2200), "vector": (1100,)}
SPECS = {"allgather": "sparbit", "allgatherv": "ring"}
REDUCED = {"words": 2200, "bytes": 2200, "items": 2200}  # mebibytes of a vector
REDUCTIONS = {
    "reduce": "clairvoyant;segments=4",
    "allreduce": "rabenseifner",
    "reduce_scatter_block": "ring",
    "scan": "recursive_doubling",
}


def kinds(stack: str) -> list[str]:
    """The form for large counts is MPI 4's."""
    return ["contiguous", "vector"] if stack.startswith("openmpi") else ["contiguous", "bytes", "vector"]


def reduction_kinds(stack: str) -> list[str]:
    return ["words", "items"] if stack.startswith("openmpi") else ["words", "bytes", "items"]


# What it is, the program with its arguments, and the algorithm of each collective in it.
Run = tuple[str, list[str | Path], dict[str, str]]


def gathers(stack: Stack) -> Iterator[Run]:
    for kind in kinds(stack.name):
        for mebibytes in MEBIBYTES[kind]:
            yield f"{kind} {mebibytes} MiB", [stack.program("large_counts"), kind, str(mebibytes)], SPECS


def reductions(stack: Stack) -> Iterator[Run]:
    for kind in reduction_kinds(stack.name):
        program: list[str | Path] = [stack.program("large_reductions"), kind, str(REDUCED[kind])]
        yield f"{kind} {REDUCED[kind]} MiB, reductions", program, REDUCTIONS


def is_right(run: Done, specs: dict[str, str]) -> bool:
    all_ran = all(run.algorithms(collective) == {spec} for collective, spec in specs.items())
    return run.status == 0 and ", 0 wrong" in run.output and all_ran


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.large", description=__doc__)
    parser.add_argument("--stack", action="append", choices=list(all_stacks()), help="default: all but impi")
    parser.add_argument("--reductions", action="store_true", help="these instead of blocks")
    asked = parser.parse_args()
    failed = done = 0
    for name in asked.stack or [name for name in all_stacks() if name != "impi"]:
        stack = all_stacks()[name]
        if not stack.is_here():
            print(f"{name}: not installed here, left out")
            continue
        for what, program, specs in reductions(stack) if asked.reductions else gathers(stack):
            start = time.monotonic()
            use = ",".join(f"{collective}={spec}" for collective, spec in specs.items())
            run = stack.run(2, program, {"CONVENE_USE": use}, timeout=600)
            right = is_right(run, specs)
            words = "ok" if right else f"failed, status {run.status}: {run.output[-1000:]}"
            print(f"{name} {what}, {time.monotonic() - start:.0f} s: {words}", flush=True)
            done += 1
            failed += not right
    print(f"{done - failed} passed, {failed} failed")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
