# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Alltoallw and neighborhood alltoalls: Fortran programs, and mpi4py's own tests of them."""

import sys
from pathlib import Path

import pytest

from tests.conformance import mpi4py_suite
from tests.conformance.stacks import Done, Stack, all_stacks

LINEAR = "alltoallw=linear,neighbor_alltoall=linear,neighbor_alltoallv=linear"
COMBINING = "alltoallw=bruck,neighbor_alltoall=combining,neighbor_alltoallv=combining"


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def expect_algorithms(done: Done, uses: str) -> None:
    """Each collective ran, by the algorithm of `uses` where Convene had the choice."""
    for choice in uses.split(","):
        collective, algorithm = choice.split("=")
        assert algorithm in done.algorithms(collective)


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("binding", ["mpifh", "usempi", "f08"])
@pytest.mark.parametrize("procs", [1, 2, 3])
def test_fortran(name: str, binding: str, procs: int) -> None:
    """On rings of one and two ranks, too, where native MPIs mix up the blocks of both directions."""
    stack = present(name)
    for uses in (LINEAR, COMBINING):
        done = stack.run(procs, [stack.program(f"alltoalls_{binding}")], {"CONVENE_USE": uses})
        assert done.status == 0, done.output
        assert "0 failures" in done.output
        expect_algorithms(done, uses)


@pytest.mark.all
@pytest.mark.sampled(all=1)
@pytest.mark.parametrize("uses", [LINEAR, COMBINING])
@pytest.mark.parametrize("name", list(mpi4py_suite.LIBRARIES))
def test_mpi4py(name: str, uses: str) -> None:
    stack = present(name)
    try:
        suite = mpi4py_suite.suite()
    except mpi4py_suite.NotToBeHadError as error:
        pytest.skip(str(error))
    library, _ = mpi4py_suite.LIBRARIES[name]
    variables = {"CONVENE_USE": uses} | ({"MPI4PY_LIBMPI": library} if library else {})
    left_out = [word for pattern in mpi4py_suite.LEFT_OUT.get(name, []) for word in ("-x", pattern)]
    program: list[str | Path] = [sys.executable, suite, "-q", "-i", "test_cco", "-k", "lltoall", *left_out]
    done = stack.run(3, program, variables)
    assert done.status == 0, done.output
    assert "OK" in done.output
    assert "FAILED (" not in done.output
    expect_algorithms(done, uses)
