# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests of collectives under `convene run` (python -m tests.conformance.mpi4py_suite).

With each algorithm forced, at each number of ranks. Where an algorithm's requirement does not hold, the run
must end with the sentence that says so, and status 2. The tests come from mpi4py's source distribution.

For each stack and number of ranks the algorithms take turns in running the whole suite. The others run the
tests that call allgather or allgatherv: to the rest, which is Python's work for hours, it is all the same
which algorithm is forced. That none is missing is seen by the number of calls, which must be that of the
whole suite. `--whole` runs everything with every algorithm."""

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path

from convene import _core

from tests.conformance.allgather import declared_nodes, usual_specs
from tests.conformance.stacks import (
    BUILD,
    ENVIRONMENT,
    STACKS,
    Done,
    Stack,
    all_stacks,
    read_profiles,
    run_with_timeout,
)

PROCS = (1, 2, 3, 4, 5, 8)
ALL_TESTS = "test_cco"

# Which MPI each of these stacks is to load into Python, and how it names itself.
LIBRARIES = {
    "openmpi4": ("", "Open MPI v4."),
    "openmpi5": ("", "Open MPI v5."),
    "mpich5": (str(STACKS / "mpich5" / "lib" / "libmpi.so.12"), "MPICH"),
}

# Tests that cannot be passed there, natively neither: Open MPI 4 has no persistent collectives, and mpi4py
# skips all of them. The drop-in library brings those of the collectives that it knows, so that mpi4py does
# not; these stay missing.
LEFT_OUT = {"openmpi4": ["test_cco_pr_ngh_*Alltoallw*"]}

NATIVE = "native"

# Parts of the names of the tests that call allgather or allgatherv: mpi4py gathers the counts that
# Reduce_scatter was not given.
CALLERS = ("llgather", "testReduceScatter")


class NotToBeHadError(Exception):
    """The tests cannot be fetched."""


@dataclass(frozen=True)
class Result:
    stack: str
    procs: int
    algorithm: str
    outcome: str  # "passed", "declared" (the requirement does not hold, and Convene says so), "failed"
    tests: int = 0  # per rank
    skipped: int = 0  # of these; by mpi4py itself
    calls: dict[str, int] = field(default_factory=dict)  # all ranks together, without intercommunicators
    seconds: float = 0
    problem: str = ""
    whole: bool = True  # or the callers alone


def suite() -> Path:
    """The tests' main program, of the mpi4py that is installed; fetched once."""
    try:
        version = metadata.version("mpi4py")
    except metadata.PackageNotFoundError:
        raise NotToBeHadError("mpi4py is not installed; run ./dev setup") from None
    folder = BUILD / "mpi4py"
    main = folder / f"mpi4py-{version}" / "test" / "main.py"
    if main.exists():
        return main
    folder.mkdir(parents=True, exist_ok=True)
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*fetch, "--no-binary", "mpi4py", "--dest", str(folder), f"mpi4py=={version}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    archives = sorted(folder.glob(f"mpi4py-{version}*.tar.gz"))
    if done.returncode != 0 or not archives:
        reason = (done.stderr.strip() or "no archive").splitlines()[-1]
        raise NotToBeHadError(f"mpi4py's source distribution cannot be had: {reason}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    return main


def convene_run(
    stack: Stack, procs: int, spec: str, tests: list[str], timeout: float, directory: str
) -> tuple[int, str]:
    library, _ = LIBRARIES[stack.name]
    variables = {"CONVENE_PROFILE_DIR": directory} | ({"MPI4PY_LIBMPI": library} if library else {})
    variables |= declared_nodes(spec, procs)
    run = [sys.executable, "-m", "convene", "run", "--use", f"allgather={spec},allgatherv={spec}", "--"]
    left_out = [word for pattern in LEFT_OUT.get(stack.name, []) for word in ("-x", pattern)]
    program = [sys.executable, str(suite()), "-q", *tests, *left_out]
    if stack.component:
        run, variables = (
            [],
            {**variables, **stack.variables, "CONVENE_USE": f"allgather={spec},allgatherv={spec}"},
        )
    return run_with_timeout(
        [*run, stack.launcher, "-n", str(procs), *program],
        {**ENVIRONMENT, **os.environ, **variables},
        timeout,
    )


def judge(stack: Stack, procs: int, spec: str, done: Done) -> tuple[str, str]:
    """Outcome, and what is wrong."""
    unmet = _core.unmet("allgather", spec, procs)
    if unmet:
        if done.status == 2 and unmet in done.output:
            return "declared", ""
        return "failed", f"status {done.status} and no word of '{unmet}'"
    if done.status != 0:
        return "failed", f"status {done.status}"
    if "OK" not in done.output or "FAILED (" in done.output:
        return "failed", "a rank does not say OK"
    if len(done.profiles) != procs:
        return "failed", f"{len(done.profiles)} profiles of {procs} ranks"
    _, version = LIBRARIES[stack.name]
    if any(not profile["library_version"].startswith(version) for profile in done.profiles):
        return "failed", f"ran with another MPI: {done.profiles[0]['library_version']}"
    if done.algorithms("allgather") != {spec}:
        return "failed", f"allgather ran as {done.algorithms('allgather')}"
    if not done.algorithms("allgatherv") <= {spec}:
        return "failed", f"allgatherv ran as {done.algorithms('allgatherv')}"
    return "passed", ""


def run_suite(
    stack: Stack, procs: int, spec: str, tests: str = ALL_TESTS, timeout: float = 900, *, whole: bool = True
) -> Result:
    start = time.monotonic()
    chosen = ["-i", tests, *(word for name in CALLERS if not whole for word in ("-k", name))]
    with tempfile.TemporaryDirectory(prefix="convene-test-") as directory:
        status, output = convene_run(stack, procs, spec, chosen, timeout, directory)
        done = Done(status, output, read_profiles(Path(directory)), stack.no_choice)
    outcome, problem = judge(stack, procs, spec, done)
    if problem:
        problem += f"\n{done.output[-4000:]}"
    ran = re.search(r"^Ran (\d+) tests", done.output, re.MULTILINE)
    skipped = re.search(r"^OK \(skipped=(\d+)", done.output, re.MULTILINE)
    calls = {"allgather": 0, "allgatherv": 0}
    for record in done.records():
        if record["collective"] in calls and record["reason"] != "intercommunicator":
            calls[record["collective"]] += record["calls"]
    return Result(
        stack=stack.name,
        procs=procs,
        algorithm=spec,
        outcome=outcome,
        tests=int(ran[1]) if ran else 0,
        skipped=int(skipped[1]) if skipped else 0,
        calls=calls,
        seconds=round(time.monotonic() - start, 2),
        problem=problem,
        whole=whole,
    )


def run_all(
    stack: Stack, procs: int, specs: list[str], tests: str, turn: int, *, whole: bool
) -> Iterator[Result]:
    """All algorithms; one of those that can run has its turn to run the whole suite, and is the first. It is
    one of Convene's: native persistent calls are not counted."""
    able = [spec for spec in specs if spec != NATIVE and not _core.unmet("allgather", spec, procs)] or specs
    first = run_suite(stack, procs, able[turn % len(able)], tests)
    yield first
    for spec in specs:
        if spec == first.algorithm:
            continue
        result = run_suite(stack, procs, spec, tests, whole=whole)
        if (
            NATIVE not in (spec, first.algorithm)
            and result.outcome == "passed"
            and result.calls != first.calls
        ):
            problem = f"{result.calls} calls, and {first.calls} with {first.algorithm}"
            result = replace(result, outcome="failed", problem=problem)
        yield result


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.mpi4py_suite", description=__doc__)
    parser.add_argument("--stack", action="append", choices=list(LIBRARIES), help="default: all")
    parser.add_argument("--procs", type=lambda text: [int(word) for word in text.split(",")], default=PROCS)
    parser.add_argument(
        "--algorithm",
        action="append",
        metavar="ALGORITHM[;…]",
        type=lambda text: _core.spec("allgather", text),
        help=f"default: {', '.join(usual_specs())}",
    )
    parser.add_argument("--tests", default=ALL_TESTS, help="which of mpi4py's tests (a part of their names)")
    parser.add_argument("--whole", action="store_true", help="the whole suite with every algorithm: hours")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results there")
    options = parser.parse_args(arguments)
    options.algorithm = options.algorithm or usual_specs()
    return options


def main() -> int:
    options = parse(sys.argv[1:])
    results: list[Result] = []
    turn = 0
    for name in options.stack or LIBRARIES:
        stack = all_stacks()[name]
        if not stack.is_here():
            print(f"{name}: not installed here, left out")
            continue
        for procs in options.procs:
            turn += 1
            for result in run_all(stack, procs, options.algorithm, options.tests, turn, whole=options.whole):
                results.append(result)
                numbers = f"{result.tests} tests, {result.calls} calls, {result.seconds} s"
                said = f"{name} -n {procs} {result.algorithm}: {result.outcome}, {numbers} {result.problem}"
                print(said, flush=True)
                if options.json:
                    options.json.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n")
    counts = {word: sum(one.outcome == word for one in results) for word in ("passed", "declared", "failed")}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["failed"] or not results else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NotToBeHadError as error:
        sys.exit(f"mpi4py_suite: {error}")
