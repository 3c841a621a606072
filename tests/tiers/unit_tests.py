# SPDX-License-Identifier: BSD-3-Clause
"""Programs of unit tests, many tests in one process: starting one takes longer than most tests.

ctest runs each test in a process of its own."""

import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.tiers.reports import tally_of
from tests.tiers.running import MissingError, Request, Tally, run

BATCH = 150  # tests in one process


@dataclass(frozen=True)
class Batch:
    """Tests of one program that run in one process."""

    program: Path
    number: int
    tests: Sequence[str]
    emulator: Sequence[str] = ()  # the command that runs it


def programs_of(folder: Path, kind: str = "") -> list[Path]:
    """Programs that CMake names in tests/programs.txt of a build folder; of one kind, if it is given."""
    lines = (folder / "tests" / "programs.txt").read_text().splitlines()
    pairs = [line.split(" ", 1) for line in lines if line]
    return [Path(path) for name, path in pairs if kind in ("", name)]


def names_of(program: Path, emulator: Sequence[str] = ()) -> list[str]:
    """Tests of a program: SUITE.TEST, with cases INSTANCE/SUITE.TEST/CASE."""
    if not program.is_file():
        raise MissingError(f"{program} is not built")
    command = [*emulator, str(program), "--gtest_list_tests"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    names, suite = list[str](), ""
    for line in listed.stdout.splitlines():
        word = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = word
        elif suite.endswith("."):
            names.append(suite + word)
    return names


def batches_of(program: Path, tests: Sequence[str], emulator: Sequence[str] = ()) -> list[Batch]:
    """Batches of a program's tests. Each takes every n-th test, so that the cases of one test are in all."""
    number = -(-len(tests) // BATCH)
    return [Batch(program, first, tests[first::number], emulator) for first in range(number)]


def run_batch(request: Request, name: str, batch: Batch, variables: Mapping[str, str]) -> Tally:
    name = f"{name}-{batch.program.parent.name}-{batch.program.name}-{batch.number}"
    report = request.reports / f"{name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = (*batch.emulator, str(batch.program), "--gtest_brief=1", f"--gtest_output=xml:{report}")
    chosen = {"GTEST_FILTER": ":".join(batch.tests)}
    status = run(request, *command, quiet=True, timeout=900, variables={**variables, **chosen})
    return tally_of(report, name, status)


def run_tests(
    request: Request,
    name: str,
    tests: Mapping[Path, Sequence[str]],
    variables: Mapping[str, str] | None = None,
    emulator: Sequence[str] = (),
) -> Tally:
    """Tests of some programs, in as many processes at a time as there are jobs."""
    batches = [batch for program, chosen in tests.items() for batch in batches_of(program, chosen, emulator)]
    tally = Tally()
    with ThreadPoolExecutor(request.jobs) as pool:
        for done in pool.map(lambda batch: run_batch(request, name, batch, variables or {}), batches):
            tally.add(done)
    return tally


def run_programs(
    request: Request, name: str, programs: Sequence[Path], variables: Mapping[str, str] | None = None
) -> Tally:
    """All tests of some programs."""
    return run_tests(request, name, {program: names_of(program) for program in programs}, variables)
