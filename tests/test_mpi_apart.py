# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are far apart, or make calls that mean the same and look different: what one knows of earlier
calls, others may not."""

import pytest

from tests.test_mpi_runtime import EVERY_BUILD, present

CASES = {
    "ahead": {"CONVENE_USE": "reduce=local_redirect,bcast=chain;segments=300"},
    "items": {"CONVENE_USE": "reduce=shared", "CONVENE_SHARED_MEMORY": "1MiB"},
    "improbe": {"CONVENE_USE": "allgather=ring"},
    "expect": {},
    "runtimes": {"CONVENE_USE": "allgather=bruck"},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_ranks_that_are_apart_end(name: str, case: str) -> None:
    stack = present(name)
    procs = 2 if stack.spins or case == "expect" else 3
    done = stack.run(procs, [stack.program("apart"), case], CASES[case], preload=case != "expect", timeout=60)
    assert done.status == 0, done.output
    assert "apart: right" in done.output
    if case == "runtimes":  # one profile tells of the calls through either
        assert len(done.profiles) == procs
        assert sum(record["calls"] for record in done.records()) == 2 * procs
