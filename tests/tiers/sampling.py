# SPDX-License-Identifier: BSD-3-Clause
"""Samples of unit tests, for parts in which a test takes many times as long as elsewhere."""

import random
from collections import defaultdict
from collections.abc import Sequence

CASES = 4  # of each test in `all`, by seed
# The longest tests under the sanitizers, over all ranks, roots, arrivals or plans (docs/tests.md). `all` runs
# one case of each that has cases; `long` runs all of them.
EXHAUSTIVE = (
    "BruckAllgather.TakesTheTimeOfItsMessagesInLogGP",
    "CarriedSignals.AreCorrectAsMessagesForUpTo64ProcessesAndAllRoots",
    "Clairvoyant.ReducesForThousandsOfRandomArrivals",
    "Composed.IsCorrectForUpTo24ProcessesOnAllPlacements",
    "Deciding.EndsWellInEveryCourseOfEventsOfThreeRanks",
    "Deciding.EndsWellInRandomCoursesOfEvents",
    "EveryCollective.IsCorrectBeyondTheExecutorsLimits",
    "EveryCollective.IsCorrectForUpTo64ProcessesAndAllRoots",
    "EveryCollective.MutantsAreCaught",
    "GivenPlan.HasTheSizesAndGroupsOfItsBuffers",
    "GivenPlan.IsRefusedOrFoundWrongIfItIsMutated",
    "GivenPlan.IsSimulatedAsItsAlgorithm",
    "GivenPlan.IsWhatWasPrinted",
    "Imbalance.WrongChangesAreRare",
    "MutantOf.IsCaught",
    "PacedAlgorithm.DeliversOnUpTo64Processes",
    "Reductions.AreCorrectForAllRoots",
    "Reductions.AreCorrectForManyProcesses",
    "Reductions.AreCorrectForUpTo64Processes",
    "SharedAllgather.SignalsDirectlyForUpTo64Processes",
    "SharedParts.AreCorrectForUpTo64ProcessesAndManyRoots",
    "SimulationBounds.NoAlgorithmIsFasterThanTheBound",
    "Sparbit.SendsEveryBlockOnceInLogarithmicallyManyRounds",
    "UsesForecasts.IsCorrectForEveryForecast",
)


def family(name: str) -> str:
    """SUITE.TEST of a test and of all its cases."""
    suite, test = name.split(".", 1)
    return f"{suite.split('/')[-1]}.{test.split('/')[0]}"


def taken(names: Sequence[str], seed: int) -> list[str]:
    """Some cases of each test, by seed: one of an exhaustive test, CASES of any other. An exhaustive test
    without cases is left out."""
    choose, cases = random.Random(seed), defaultdict[str, list[str]](list)
    for name in names:
        cases[family(name)].append(name)
    kept = list[str]()
    for test, each in cases.items():
        if test not in EXHAUSTIVE:
            kept += choose.sample(each, min(CASES, len(each)))
        elif len(each) > 1:
            kept.append(choose.choice(each))
    return kept
