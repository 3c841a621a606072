# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose calls alternate between signatures: results, and the counts of calls and bytes."""

from collections import Counter

import pytest

from tests.conformance.stacks import Done, all_stacks

ROUNDS = 400
STACKS = ["openmpi4", pytest.param("mpich5-abi", marks=pytest.mark.all)]
SETTINGS: dict[str, dict[str, str]] = {
    "native": {},
    "mixed": {"CONVENE_USE": "allreduce=recursive_doubling"},
    "messages": {"CONVENE_USE": "bcast=binomial,allreduce=ring,allgather=ring"},
    "shared": {"CONVENE_USE": "bcast=shared;segments=1,allreduce=in_situ,allgather=shared"},
    "checked": {"CONVENE_CHECK": "agreement"},
    "learning": {"CONVENE_LEARN": "yes", "CONVENE_LEARN_BUDGET": "100"},
}
CHOSEN = {
    "mixed": {"allreduce": "recursive_doubling", "bcast": "native"},
    "messages": {"allreduce": "ring", "bcast": "binomial"},
    "shared": {"allreduce": "in_situ", "bcast": "shared;segments=1"},
}


def expected(procs: int) -> dict[str, Counter[int]]:
    """Calls of each collective by bytes per block, all ranks together."""
    rounds = range(ROUNDS)
    eighths = len(range(0, ROUNDS, 8))
    return {
        "bcast": Counter({8: procs * (ROUNDS + ROUNDS // 2), 4: procs * ROUNDS // 2}),
        "allreduce": Counter({4: procs * 2 * ROUNDS, 12: procs * eighths, 16: procs * 2 * ROUNDS}),
        "allgather": Counter({4: procs * (2 * ROUNDS + eighths), 64: procs * len(rounds[::2])}),
        "barrier": Counter({0: procs * len(rounds[::5])}),
    }


def counted(done: Done, collective: str) -> Counter[int]:
    """The records of a collective by bytes per block: a record is of one size in this program."""
    sums: Counter[int] = Counter()
    for record in done.records():
        if record["collective"] == collective:
            sums[record["bytes_per_block"]] += record["calls"]
    return sums


@pytest.mark.parametrize("setting", list(SETTINGS))
@pytest.mark.parametrize("name", STACKS)
def test_calls_of_alternating_signatures_are_counted(name: str, setting: str) -> None:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    procs = 3
    done = stack.run(procs, [stack.program("alternating"), str(ROUNDS)], SETTINGS[setting])
    assert not done.problem(), done.problem()
    assert {each: counted(done, each) for each in expected(procs)} == expected(procs)
    for collective, algorithm in CHOSEN.get(setting, {}).items():
        assert done.algorithms(collective) == {algorithm}
