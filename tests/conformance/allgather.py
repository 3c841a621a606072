# SPDX-License-Identifier: BSD-3-Clause
"""The allgather program under every algorithm, on every stack (python -m tests.conformance.allgather)"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from convene import _core
from convene.base.core_types import Algorithm

from tests.conformance.stacks import Stack, all_stacks

PROGRAM = "allgather_conformance"
PROCS = (1, 2, 3, 4, 5, 8)

# What a stack itself does not do right, with Convene or without.
LIMITS = {
    # MPI_Wait takes the error of a receive to MPI_COMM_WORLD's handler instead of its communicator's.
    "mpich4": ["truncation"],
    # MPI_ERRORS_RETURN has no effect through its standard-ABI library.
    "impi": ["error_handlers", "truncation"],
}
NATIVE_LIMITS = {
    # Open MPI's Bruck and ring algorithms crash on datatypes without data but with an extent.
    "openmpi4": ["empty_types"],
    "openmpi5": ["empty_types"],
    # Intel MPI's native allgather delivers wrong data where send and receive type differ, at 5 and 8 ranks.
    "impi": ["derived_types"],
    # MPICH's shared-memory allgather does not notice that more comes than there is room for.
    "mpich5": ["truncation"],
    "mpich5-abi": ["truncation"],
}

# Where the root of these meets an error, the others wait for it until the program ends them.
ROOTED = ("gather_bcast",)

# Ways of running that apply to any algorithm; each is tried with every algorithm's usual parameters.
MODE_PROCS = (4, 5)
MODES: dict[str, dict[str, str]] = {
    "": {},
    "compiled": {"CONVENE_EXECUTE": "compiled"},
    "dynamic": {"CONVENE_EXECUTE": "dynamic"},
    "shuffled": {"CONVENE_SHUFFLE": "7"},
    "agreement": {"CONVENE_CHECK": "agreement"},
    "small cache": {"CONVENE_CACHE": "1"},
}


@dataclass(frozen=True)
class Result:
    stack: str
    procs: int
    spec: str
    mode: str
    seconds: float
    problem: str = ""


def known_algorithms() -> list[Algorithm]:
    """Those of allgather and allgatherv, in every form of call. (shared is for blocking allgathers alone:
    tests/test_mpi_shared.py.)"""
    return [known for known in _core.algorithms("allgather") if not known["shares_memory"]]


def specs() -> list[str]:
    """Every algorithm with every sample of its parameters, as the checker tries them too."""
    found = []
    for algorithm in known_algorithms():
        found += [_core.spec("allgather", spec) for spec in _core.samples("allgather", algorithm["name"])]
    # Communicators of the program have nodes of one rank, where there cannot be several leaders.
    return [spec for spec in dict.fromkeys(found) if "leaders" not in spec]


def usual_specs() -> list[str]:
    """Every algorithm with the parameters that it has if one gives none; `native` first."""
    return [_core.spec("allgather", algorithm["name"]) for algorithm in known_algorithms()]


def needs_even(spec: str) -> bool:
    """Whether a requirement keeps an algorithm from communicators of some sizes."""
    return bool(_core.unmet("allgather", spec, 7))


def declared_nodes(spec: str, procs: int) -> dict[str, str]:
    """A first non-blocking call cannot look for the nodes that a composition needs: they are declared."""
    return {"CONVENE_MAPPING": ",".join(str(rank % 2) for rank in range(procs))} if "(" in spec else {}


def problem_of(
    stack: Stack,
    procs: int,
    spec: str,
    arguments: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    timeout: float = 900,
) -> str:
    """What is wrong with one run under a forced algorithm; empty if nothing is."""
    skipped = LIMITS.get(stack.name, []) + (NATIVE_LIMITS.get(stack.name, []) if spec == "native" else [])
    skipped += ["truncation"] if spec.startswith(ROOTED) else []
    options = [word for section in skipped for word in ("--skip", section)]
    options += ["--even"] if needs_even(spec) else []
    done = stack.run(
        procs,
        [stack.program(PROGRAM), *arguments, *options],
        {
            "CONVENE_USE": f"allgather={spec},allgatherv={spec}",
            **declared_nodes(spec, procs),
            **(variables or {}),
        },
        timeout=timeout,
    )
    if done.status != 0 or ", 0 failures" not in done.output:
        return f"status {done.status}: {done.output[-2000:]}"
    if len(done.profiles) != procs:
        return f"{len(done.profiles)} profiles of {procs} ranks"
    for collective in ("allgather", "allgatherv"):
        if done.algorithms(collective) != {spec}:
            return f"{collective} ran as {done.algorithms(collective)}"
    return ""


def cases(stack: Stack, procs: list[int], wanted: list[str], usual: bool) -> Iterator[tuple[int, str, str]]:
    everywhere = usual_specs()
    # Where idle ranks spin, a run takes minutes: the usual parameters only.
    for spec in everywhere if usual or stack.spins else dict.fromkeys(everywhere + specs()):
        if wanted and spec.partition(";")[0].partition("(")[0] not in wanted:
            continue
        for number in procs:
            if _core.unmet("allgather", spec, number):
                continue
            has_modes = spec in everywhere[1:] and number in MODE_PROCS and not usual and not stack.spins
            for mode in MODES if has_modes else [""]:
                yield number, spec, mode


def run_all(options: argparse.Namespace) -> list[Result]:
    results = []
    for name in options.stack or all_stacks():
        stack = all_stacks()[name]
        if not stack.is_here():
            print(f"{name}: not installed here, left out")
            continue
        for procs, spec, mode in cases(stack, options.procs, options.algorithm, options.usual):
            start = time.monotonic()
            arguments = ["--quick"] if options.quick or stack.spins or mode else []
            problem = problem_of(stack, procs, spec, arguments, MODES[mode])
            result = Result(name, procs, spec, mode, round(time.monotonic() - start, 2), problem)
            results.append(result)
            if problem or options.verbose:
                print(f"{name} -n {procs} {spec} {mode} {result.seconds} s {problem or 'ok'}", flush=True)
    return results


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.allgather", description=__doc__)
    parser.add_argument("--stack", action="append", choices=list(all_stacks()), help="default: all")
    parser.add_argument("--procs", type=lambda text: [int(word) for word in text.split(",")], default=PROCS)
    parser.add_argument(
        "--algorithm",
        action="append",
        default=[],
        choices=[known["name"] for known in known_algorithms()],
    )
    parser.add_argument("--usual", action="store_true", help="only each algorithm's usual parameters")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and repetitions")
    parser.add_argument("--verbose", action="store_true", help="a line for every run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results there")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse(sys.argv[1:])
    results = run_all(options)
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    failed = [result for result in results if result.problem]
    seconds = sum(result.seconds for result in results)
    print(f"{len(results) - len(failed)} runs passed, {len(failed)} failed, {seconds:.0f} s")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
