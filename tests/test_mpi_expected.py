# SPDX-License-Identifier: BSD-3-Clause
"""Blocking calls of which the program says when each rank will come (convene_expect)."""

import pytest

from tests.test_mpi_runtime import EVERY_BUILD, present

# Each algorithm that uses forecasts, by turns.
USES = (
    "allgather=bdr,gather=sls,scatter=sln,reduce=clairvoyant,allreduce=prr,bcast=list_scheduled,"
    "barrier=adaptive_tree",
    "allgather=bslb,gather=bsls,scatter=bsln,reduce=clairvoyant;segments=1,allreduce=slt",
    "reduce=list_scheduled,allreduce=list_scheduled;segments=3",
    "allgather=list_scheduled,gather=sbn,scatter=sbn,reduce=clairvoyant;segments=5,allreduce=adaptive_tree",
    "allgather=list_scheduled,gather=bsbn,scatter=bsbn,allreduce=stragglar",
    "allgather=by_arrival(gather_bcast),gather=by_arrival(binomial),scatter=by_arrival(binomial),"
    "reduce=by_arrival(pipeline),allreduce=by_arrival(reduce_bcast),bcast=by_arrival(chain)",
)

COMPOSED = (
    "allgather=hier(list_scheduled,sls,list_scheduled),gather=hier(bsbn,sbn),scatter=hier(sln,sbn),"
    "reduce=hier(clairvoyant;segments=5,clairvoyant;segments=3),bcast=remap(list_scheduled),"
    "allreduce=hier(prr,clairvoyant,list_scheduled),barrier=hier(adaptive_tree,sls,list_scheduled)"
)


@pytest.mark.sampled(default=4, all=14)
@pytest.mark.parametrize("uses", USES)
@pytest.mark.parametrize("procs", [1, 2, 5])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_whatever_is_expected_results_are_right(name: str, procs: int, uses: str) -> None:
    stack = present(name)
    if stack.spins and procs > 2:
        pytest.skip("idle ranks of this stack don't give way")
    done = stack.run(procs, [stack.program("expected"), uses], preload=False, timeout=60)
    assert done.status == 0, done.output
    assert "expected arrivals: 0 failures" in done.output


@pytest.mark.parametrize("uses", [COMPOSED, USES[2]], ids=["composed", "placed"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich5-abi"])
def test_nodes_and_arrivals_together(name: str, uses: str) -> None:
    """Of compositions, and of algorithms that place their messages by nodes."""
    stack, nodes = present(name), {"CONVENE_MAPPING": "0,0,1,1,2"}
    done = stack.run(5, [stack.program("expected"), uses], nodes, preload=False, timeout=60)
    assert done.status == 0, done.output
    assert "expected arrivals: 0 failures" in done.output


def test_ranks_that_expect_different_arrivals_are_told() -> None:
    stack = present("openmpi4")
    variables = {"CONVENE_CHECK": "agreement"}
    done = stack.run(
        2, [stack.program("expected"), USES[0], "disagreeing"], variables, preload=False, timeout=60
    )
    assert done.status == 2, done.output
    assert "forecasts arrivals after" in done.output
