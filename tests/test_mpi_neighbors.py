# SPDX-License-Identifier: BSD-3-Clause
"""Neighborhood collectives in an unmodified program: grids, graphs and distributed graphs."""

import pytest

from tests.conformance.stacks import Stack, all_stacks

CALLS = 200
COLLECTIVES = ("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv")


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


@pytest.mark.sampled(default=3, all=10)
@pytest.mark.parametrize("algorithm", ["linear", "combining"])
@pytest.mark.parametrize("procs", [1, 4, 6])
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpich5-abi"])
def test_neighborhoods(name: str, procs: int, algorithm: str) -> None:
    stack = present(name)
    uses = ",".join(f"{collective}={algorithm}" for collective in COLLECTIVES)
    # MPI_Neighbor_allgather_init is Convene's where it runs the call; before the first blocking call on a
    # communicator `combining` is not ready, and the MPI may lack the native one.
    forms = ["persistent"] if algorithm == "linear" else []
    done = stack.run(procs, [stack.program("neighborhood"), str(CALLS), "7", *forms], {"CONVENE_USE": uses})
    assert done.status == 0, done.output
    assert f"{CALLS} neighborhood calls are right" in done.output
    for collective in COLLECTIVES:
        assert algorithm in done.algorithms(collective)
        assert done.algorithms(collective) <= {algorithm, "native"}
    reasons = {
        record["reason"]
        for record in done.records()
        if record["algorithm"] == "native" and record["collective"] in COLLECTIVES
    }
    assert reasons <= ({"neighbours of other ranks unknown"} if algorithm == "combining" else set())
