# SPDX-License-Identifier: BSD-3-Clause
"""Failing allocations of Convene's: an error code instead of an exception that leaves the library."""

import pytest

from tests.conformance.stacks import Done
from tests.test_mpi_runtime import EVERY_BUILD, present

USES = {
    "allgather": "ring",
    "allgatherv": "ring",
    "gather": "binomial",
    "gatherv": "binomial",
    "scatter": "binomial",
    "scatterv": "binomial",
    "bcast": "binomial",
    "alltoall": "bruck",
    "alltoallv": "pairwise",
    "barrier": "dissemination",
    "reduce": "binomial",
    "allreduce": "ring",
    "reduce_scatter_block": "ring",
    "reduce_scatter": "ring",
    "scan": "binomial",
    "exscan": "binomial",
    "neighbor_allgather": "linear",
    "neighbor_allgatherv": "linear",
}
# An interrupted call keeps its communicator, and an MPI has some 2,000: few collectives per run.
GROUPS = [list(USES)[i : i + 6] for i in range(0, len(USES), 6)]


def run(name: str, procs: int, *arguments: str, use: str) -> Done:
    stack = present(name)
    return stack.run(
        procs, [stack.program("failing_allocations"), *arguments], {"CONVENE_USE": use}, timeout=120
    )


def check(done: Done) -> None:
    assert done.status == 0, done.output
    assert "terminate" not in done.output
    assert ", 0 wrong" in done.output


@pytest.mark.sampled(default=4, all=24)
@pytest.mark.parametrize("collectives", GROUPS, ids=lambda group: group[0])
@pytest.mark.parametrize("chosen", ["native", "convene"])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_every_form_of_every_collective(name: str, chosen: str, collectives: list[str]) -> None:
    use = ",".join(f"{each}={USES[each] if chosen == 'convene' else 'native'}" for each in collectives)
    done = run(name, 1, *collectives, use=use)
    check(done)
    assert "out of memory (MPI_ERR_NO_MEM)" in done.output


@pytest.mark.parametrize("collective", ["allgather", "alltoall", "barrier"])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_all_ranks_fail_alike(name: str, collective: str) -> None:
    check(run(name, 2, collective, use=f"{collective}={USES[collective]}"))


@pytest.mark.sampled(default=4, all=20)
@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_the_first_call_of_a_process(name: str, number: int) -> None:
    """Settings and lists of algorithms are made in it."""
    check(run(name, 1, "allgather", "first", str(number), use="allgather=ring"))
