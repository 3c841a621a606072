# SPDX-License-Identifier: BSD-3-Clause
"""Reductions by Convene and by the MPI, compared byte for byte (python -m tests.conformance.reductions).

First every predefined operator on every predefined type that the MPI takes for it, through every algorithm;
then random calls, with user-defined operators and derived types. By default on three stacks, 1 to 9 ranks, an
hour of random calls in all."""

import argparse
import sys
from collections.abc import Sequence

from convene import _core
from convene.base.core_types import Algorithm

from tests.conformance.random_calls import PROCS, STACKS, program_of
from tests.conformance.stacks import Stack, all_stacks

REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
GRID, RANDOM = "reduction_grid", "random_reductions"


def communicators(procs: int, nodes: str) -> list[str]:
    """The nodes of the ranks of each communicator that random calls use: all, halves, a single rank."""
    whole = nodes.split(",") if nodes else ["0"] * procs
    return [",".join(part) for part in (whole, whole[::2], whole[1::2], whole[:1]) if part]


def needs(algorithm: Algorithm) -> str:
    """What random calls must know: " commutative", of the operator."""
    return " commutative" if algorithm["commutative_only"] or algorithm["parts"] else ""


def specs(program: str, procs: int, nodes: str = "") -> str:
    """All algorithms that can run on the communicators of a program, with the parameters that checks try, a
    line each; for random calls also their needs. `nodes`: of the ranks (all on one)."""
    placements = communicators(procs, nodes)
    lines = []
    for collective in REDUCTIONS:
        for algorithm in _core.algorithms(collective):
            spec = ["native"] if algorithm["native"] else _core.samples(collective, algorithm["name"])
            lines += [
                f"{collective} {each}" + (needs(algorithm) if program == RANDOM else "")
                for each in spec
                if not any(_core.unmet(collective, each, on.count(",") + 1, "", on) for on in placements)
            ]
    return "\n".join(lines)


def options_of(stack: Stack, program: str) -> list[str]:
    """Under the standard ABI, only the drop-in library completes non-blocking calls of Convene's."""
    return ["--native-nonblocking"] if program == RANDOM and stack.library == "abi" else []


def problem_of(
    stack: Stack,
    program: str,
    procs: int,
    options: Sequence[str] = (),
    timeout: float = 300,
    nodes: str = "",
) -> str:
    """What went wrong; empty where all results were equal."""
    done = stack.run(
        procs,
        [program_of(stack, program), *options_of(stack, program), *options],
        {"CONVENE_TEST_SPECS": specs(program, procs, nodes)} | ({"CONVENE_MAPPING": nodes} if nodes else {}),
        preload=False,
        timeout=timeout,
    )
    return done.problem()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.reductions", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="of random calls, in all (60); 0: none")
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each run has the next one (1)")
    parser.add_argument("--stack", action="append", choices=list(all_stacks()), help=f"default: {STACKS}")
    parser.add_argument("--procs", action="append", type=int, help="default: 1 to 9")
    parser.add_argument("--no-grid", action="store_true", help="only random calls")
    asked = parser.parse_args()
    stacks = [stack for name in asked.stack or STACKS if (stack := all_stacks()[name]).is_here()]
    procs = asked.procs or PROCS
    share = asked.minutes / max(1, len(stacks) * len(procs))
    failures, seed = 0, asked.seed
    for stack in stacks:
        for number in procs:
            found = {}
            if not asked.no_grid:
                found[GRID] = problem_of(stack, GRID, number, timeout=1200)
            if share > 0:
                options = ["--minutes", str(share), "--seed", str(seed)]
                name, timeout = f"{RANDOM} --seed {seed}", share * 60 + 300
                found[name] = problem_of(stack, RANDOM, number, options, timeout)
            for what, problem in found.items():
                print(f"{stack.name} -n {number}, {what}: {problem or 'all right'}", flush=True)
                failures += bool(problem)
            seed += 1
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
