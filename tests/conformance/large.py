# SPDX-License-Identifier: BSD-3-Clause
"""Blocks above 2^31 bytes on two ranks (python -m tests.conformance.large): up to 12 GiB, some minutes."""

import argparse
import sys
import time

from tests.conformance.stacks import all_stacks

# Together more than 2^31 bytes in one call; and more than that in one block, so in one message.
MEBIBYTES = {"contiguous": (1200, 2200), "bytes": (1200, 2200), "vector": (1100,)}
SPECS = ("sparbit", "ring")


def kinds(stack: str) -> list[str]:
    """The form for large counts is MPI 4's."""
    return ["contiguous", "vector"] if stack.startswith("openmpi") else ["contiguous", "bytes", "vector"]


def parse(arguments: list[str]) -> list[str]:
    """The stacks to run on."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.large", description=__doc__)
    parser.add_argument("--stack", action="append", choices=list(all_stacks()), help="default: all but impi")
    wanted: list[str] | None = parser.parse_args(arguments).stack
    return wanted or [name for name in all_stacks() if name != "impi"]


def main() -> int:
    failed = done = 0
    for name in parse(sys.argv[1:]):
        stack = all_stacks()[name]
        if not stack.is_here():
            print(f"{name}: not installed here, left out")
            continue
        for kind in kinds(name):
            for mebibytes in MEBIBYTES[kind]:
                start = time.monotonic()
                variables = {"CONVENE_USE": f"allgather={SPECS[0]},allgatherv={SPECS[1]}"}
                program = stack.program("large_counts")
                run = stack.run(2, [program, kind, str(mebibytes)], variables, timeout=600)
                right = run.status == 0 and ", 0 wrong" in run.output
                right = right and run.algorithms("allgather") | run.algorithms("allgatherv") == set(SPECS)
                seconds = time.monotonic() - start
                words = "ok" if right else f"failed, status {run.status}: {run.output[-1000:]}"
                print(f"{name} {kind} {mebibytes} MiB, {seconds:.0f} s: {words}", flush=True)
                done += 1
                failed += not right
    print(f"{done - failed} passed, {failed} failed")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
