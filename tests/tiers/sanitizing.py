# SPDX-License-Identifier: BSD-3-Clause
"""AddressSanitizer and UBSan on the unit tests of the pure layers.

An MPI leaks by itself, so programs that load one cannot be checked."""

import random
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.tiers.analysis import build
from tests.tiers.reports import tally_of
from tests.tiers.running import Request, Tally, run, verdict

# The longest tests under the sanitizers, over all ranks, roots, arrivals or plans (docs/tests.md). `all` runs
# one case of each that has cases; `long` runs all of them.
EXHAUSTIVE = (
    "BruckAllgather.TakesTheTimeOfItsMessagesInLogGP",
    "Clairvoyant.ReducesForThousandsOfRandomArrivals",
    "Composed.IsCorrectForUpTo24ProcessesOnAllPlacements",
    "Deciding.EndsWellInEveryCourseOfEventsOfThreeRanks",
    "EveryCollective.IsCorrectBeyondTheExecutorsLimits",
    "EveryCollective.IsCorrectForUpTo64ProcessesAndAllRoots",
    "EveryCollective.MutantsAreCaught",
    "GivenPlan.HasTheSizesAndGroupsOfItsBuffers",
    "GivenPlan.IsRefusedOrFoundWrongIfItIsMutated",
    "GivenPlan.IsWhatWasPrinted",
    "Imbalance.WrongChangesAreRare",
    "MutantOf.IsCaught",
    "Reductions.AreCorrectForAllRoots",
    "Reductions.AreCorrectForManyProcesses",
    "Reductions.AreCorrectForUpTo64Processes",
    "Sparbit.SendsEveryBlockOnceInLogarithmicallyManyRounds",
    "UsesForecasts.IsCorrectForEveryForecast",
)
# Tests in one process: starting one costs more than most tests.
BATCH = 150


@dataclass(frozen=True)
class Batch:
    """Tests of one program that run in one process."""

    program: Path
    number: int
    tests: Sequence[str]


def names_of(program: Path) -> list[str]:
    """Tests of a program: SUITE.TEST, with cases INSTANCE/SUITE.TEST/CASE."""
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True)
    names, suite = list[str](), ""
    for line in listed.stdout.splitlines():
        word = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = word
        elif suite.endswith("."):
            names.append(suite + word)
    return names


def family(name: str) -> str:
    """SUITE.TEST of a test and of all its cases."""
    suite, test = name.split(".", 1)
    return f"{suite.split('/')[-1]}.{test.split('/')[0]}"


def taken(names: Sequence[str], seed: int) -> list[str]:
    """All tests but the exhaustive ones; one case by seed of each of these that has cases."""
    kept = [name for name in names if family(name) not in EXHAUSTIVE]
    for test in EXHAUSTIVE:
        cases = [name for name in names if family(name) == test]
        if len(cases) > 1:
            kept.append(random.Random(seed).choice(cases))
    return kept


def run_batch(request: Request, batch: Batch) -> Tally:
    name = f"sanitize-{batch.program.name}-{batch.number}"
    report = request.reports / f"{name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = (batch.program, "--gtest_brief=1", f"--gtest_output=xml:{report}")
    status = run(
        request, *command, quiet=True, timeout=3600, variables={"GTEST_FILTER": ":".join(batch.tests)}
    )
    return tally_of(report, name, status)


def sanitize(request: Request) -> Tally:
    if not build(request, "sanitize", "pure_tests"):
        return verdict("build with AddressSanitizer", is_right=False)
    programs = sorted((request.build / "sanitize" / "tests" / "unit").glob("*_test"))
    tests = {program: names_of(program) for program in programs}
    families = {family(name) for names in tests.values() for name in names}
    unknown = [name for name in EXHAUSTIVE if name not in families]
    tally = Tally(failed=len(unknown), failures=[f"sanitize: no test is called {name}" for name in unknown])
    batches = list[Batch]()
    for program, names in tests.items():
        chosen = names if request.tier == "long" else taken(names, request.seed)
        number = -(-len(chosen) // BATCH)
        # Every n-th test, so that the cases of one test are in all batches.
        batches += [Batch(program, first, chosen[first::number]) for first in range(number)]
    with ThreadPoolExecutor(request.jobs) as pool:
        for done in pool.map(lambda batch: run_batch(request, batch), batches):
            tally.add(done)
    return tally
