# SPDX-License-Identifier: BSD-3-Clause
"""Random collective calls by Convene and by the MPI, compared (python -m tests.conformance.random_calls).

By default an hour in all: three stacks, 1 to 9 ranks, each with a share of the time."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from convene import _core

from tests.conformance.stacks import BUILD, ROOT, Stack, all_stacks

PROGRAM = "random_conformance"
STACKS = ("openmpi4", "openmpi5", "mpich5")
PROCS = (1, 2, 3, 4, 5, 6, 7, 8, 9)


def fits_everywhere(collective: str, spec: str) -> bool:
    """Whether an algorithm, or a composition, runs on every communicator that the program makes."""
    needy = {known["name"] for known in _core.algorithms(collective) if known["requirement"] != "none"}
    if needy & set(re.findall(r"\w+", spec)) or "leaders" in spec:  # nodes of one rank have one leader
        return False
    if collective in ("alltoallv", "alltoallw") and "copied" in spec:  # remap: equal blocks only
        return False
    # A part of a composition may need more than the collective's own algorithms: on one node, on a node each.
    places = [(procs, ",".join(map(str, nodes))) for procs in PROCS for nodes in ([0] * procs, range(procs))]
    return "(" not in spec or not any(_core.unmet(collective, spec, procs, "", on) for procs, on in places)


def specs() -> str:
    """All algorithms that need nothing, with the parameters that checks try: a line each."""
    return "\n".join(
        f"{collective} {spec}"
        for collective in _core.collectives()
        for algorithm in _core.algorithms(collective)
        for spec in (["native"] if algorithm["native"] else _core.samples(collective, algorithm["name"]))
        if fits_everywhere(collective, spec)
    )


def program_of(stack: Stack, name: str = PROGRAM) -> Path:
    """The program, linked with the Convene that fits: by CMake, or here for other stacks."""
    if stack.is_known_to_cmake:
        return stack.program(name)
    source, target = ROOT / "tests" / "mpi" / f"{name}.cpp", BUILD / "tests" / stack.folder / name
    library = BUILD / "lib" / f"libconvene-{stack.library}.so"
    if not target.exists() or target.stat().st_mtime < max(
        path.stat().st_mtime for path in (source, library, *source.parent.glob("*.hpp"))
    ):
        options = [f"-I{ROOT / 'include'}", str(library), f"-Wl,-rpath,{library.parent}"]
        stack.compile(source, target, *options)
    return target


def problem_of(stack: Stack, procs: int, options: Sequence[str], timeout: float = 300) -> str:
    """What went wrong; empty where all results were equal."""
    done = stack.run(
        procs,
        [program_of(stack), *options],
        {"CONVENE_TEST_SPECS": specs()},
        preload=False,
        timeout=timeout,
    )
    return done.problem()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.random_calls", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="in all (60)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each run has the next one (1)")
    parser.add_argument("--stack", action="append", choices=list(all_stacks()), help=f"default: {STACKS}")
    parser.add_argument("--procs", action="append", type=int, help="default: 1 to 9")
    asked = parser.parse_args()
    stacks = [stack for name in asked.stack or STACKS if (stack := all_stacks()[name]).is_here()]
    procs = asked.procs or PROCS
    share = asked.minutes / max(1, len(stacks) * len(procs))
    failures, seed = 0, asked.seed
    for stack in stacks:
        for number in procs:
            options = ["--minutes", str(share), "--seed", str(seed)]
            problem = problem_of(stack, number, options, share * 60 + 300)
            print(f"{stack.name} -n {number}, seed {seed}: {problem or 'all right'}", flush=True)
            failures += bool(problem)
            seed += 1
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
