# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms that decide as they run, with other ranks late each time."""

import pytest

from tests.conformance.stacks import Stack, all_stacks


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


@pytest.mark.sampled(default=4, all=14)
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpich5-abi"])
@pytest.mark.parametrize("bcast", ["arrival_b", "arrival_nb;segments=3"])
@pytest.mark.parametrize(("procs", "thread"), [(1, "0"), (2, "0"), (5, "0"), (8, "0"), (3, "1")])
def test_whoever_is_late(name: str, bcast: str, procs: int, thread: str) -> None:
    stack = present(name)
    variables = {"CONVENE_USE": f"reduce=local_redirect,bcast={bcast}", "CONVENE_PROGRESS_THREAD": thread}
    rounds = "60" if procs == 8 else "150"
    done = stack.run(procs, [stack.program("deciding"), rounds], variables, timeout=120)
    assert done.status == 0, done.output
    assert f"{rounds} rounds, 0 failures" in done.output
    assert done.algorithms("reduce") == {"local_redirect"}
    assert done.algorithms("bcast") == {bcast}
