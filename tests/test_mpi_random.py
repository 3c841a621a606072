# SPDX-License-Identifier: BSD-3-Clause
"""Random collective calls, blocking and non-blocking, compared with native ones: the short form.

The whole is `python -m tests.conformance.random_calls`."""

import pytest

from tests.conformance import random_calls
from tests.conformance.stacks import Stack, all_stacks

CALLS = {"openmpi4": (1, 2, 3, 5, 9), "openmpi5": (2, 4), "mpich5": (2, 5, 7), "mpich4": (3,)}
USE = (
    "allgather=sparbit,allgatherv=ring,gather=binomial,gatherv=nway_binomial;fanout=2,scatter=nway_binomial,"
    "scatterv=binomial,bcast=scatter_allgather,alltoall=bruck,alltoallv=bruck,alltoallw=bruck,"
    "barrier=dissemination"
)


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


@pytest.mark.sampled(default=3, all=8)
@pytest.mark.parametrize(("name", "procs"), [(name, n) for name, procs in CALLS.items() for n in procs])
def test_random_calls(name: str, procs: int) -> None:
    options = ["--calls", "300", "--seed", str(procs)]
    assert random_calls.problem_of(present(name), procs, options) == ""


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5"])
def test_random_calls_of_an_unmodified_program(name: str) -> None:
    stack = present(name)
    options = ["--interposed", "--calls", "200", "--seed", "11"]
    done = stack.run(4, [random_calls.program_of(stack), *options], {"CONVENE_USE": USE})
    assert done.status == 0, done.output
    assert "all right" in done.output
    for choice in USE.split(","):
        collective, algorithm = choice.split("=", 1)
        assert algorithm in done.algorithms(collective)


@pytest.mark.sampled(default=4, all=13)
@pytest.mark.parametrize("spec", ["sparbit", "ring", "native"])
@pytest.mark.parametrize("procs", [2, 4])
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpich5-abi", "impi"])
def test_legal_programs_end(name: str, procs: int, spec: str) -> None:
    """What another rank waits for is sent after its own collective: progress inside a receive or a probe."""
    stack = present(name)
    if stack.spins and procs > 2:
        pytest.skip("idle ranks of this stack don't give way")
    done = stack.run(
        procs, [stack.program("legal_programs")], {"CONVENE_USE": f"allgather={spec}"}, timeout=60
    )
    assert done.status == 0, done.output
    assert "all legal programs have ended" in done.output


PERSISTENT = (
    "allgather=sparbit,scatterv=binomial,bcast=binomial,alltoall=bruck,alltoallv=bruck,"
    "allreduce=recursive_doubling,gather=binomial,barrier=dissemination"
)


@pytest.mark.sampled(default=3, all=8)
@pytest.mark.parametrize("procs", [1, 2, 5])
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpich5-abi"])
def test_persistent_collectives(name: str, procs: int) -> None:
    """Started in another order on each rank. (Open MPI 4 has no such calls: the library brings them.)"""
    stack = present(name)
    done = stack.run(procs, [stack.program("persistent"), "mpi"], {"CONVENE_USE": PERSISTENT}, timeout=60)
    assert done.status == 0, done.output
    assert "all persistent collectives are right" in done.output
    assert done.algorithms("scatterv") == {"binomial"}
    assert done.algorithms("alltoallv") == {"bruck"}


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich5"])
def test_persistent_collectives_of_the_mpi(name: str) -> None:
    """Open MPI 4 has none: the plainest algorithms of Convene stand in."""
    stack = present(name)
    done = stack.run(
        2, [stack.program("persistent"), "mpi", "in-order"], {"CONVENE_USE": "bcast=native"}, timeout=60
    )
    assert done.status == 0, done.output
    assert "all persistent collectives are right" in done.output
    reasons = {record["reason"] for record in done.records() if record["collective"] == "allgather"}
    assert ("the MPI has none" in reasons) == (name == "openmpi4")


@pytest.mark.parametrize("use", [PERSISTENT, "bcast=native"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich4", "mpich5-abi"])
def test_persistent_objects(name: str, use: str) -> None:
    stack = present(name)
    order = ["in-order"] if "native" in use or name == "mpich5-abi" else []
    done = stack.run(4, [stack.program("persistent"), "convene", *order], {"CONVENE_USE": use}, timeout=60)
    assert done.status == 0, done.output
    assert "all persistent collectives are right" in done.output


@pytest.mark.sampled(default=2, all=5)
@pytest.mark.parametrize("spec", ["sparbit", "ring"])
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5"])
def test_nothing_is_lost(name: str, spec: str) -> None:
    """Memory in use after many communicators, beside what the MPI itself loses."""
    stack = present(name)
    use = f"allgather={spec},scatterv=binomial,bcast=binomial"
    done = stack.run(2, [stack.program("no_growth")], {"CONVENE_USE": use}, timeout=120)
    assert done.status == 0, done.output
    assert "nothing is lost" in done.output
    assert spec in done.algorithms("allgather")


@pytest.mark.sampled(default=3, all=8)
@pytest.mark.parametrize("how", ["killed", "exits", "aborts"])
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5"])
def test_a_rank_that_dies_ends_the_program(name: str, how: str) -> None:
    """As without Convene: the launcher ends the others. (124 would be this test's own limit.)"""
    stack = present(name)
    use = {"CONVENE_USE": "allgather=sparbit"}
    done = stack.run(3, [stack.program("dies_within"), how], use, timeout=60)
    assert done.status not in (0, 124), done.output
