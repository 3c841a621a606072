# SPDX-License-Identifier: BSD-3-Clause
"""Reductions compared with native ones, or with what they must be: the short form.

The whole is `python -m tests.conformance.reductions`."""

import pytest

from tests.conformance import large, reductions
from tests.conformance.random_calls import program_of
from tests.conformance.stacks import Stack, all_stacks

GRID = {"openmpi4": 3, "openmpi5": 2, "mpich5": 4}
RANDOM = {"openmpi4": (1, 2, 3, 5, 8), "openmpi5": (2, 4), "mpich5": (2, 5), "mpich4": (2,)}
USE = (
    "reduce=two_tree;segments=3,allreduce=rabenseifner,reduce_scatter=recursive_halving,"
    "reduce_scatter_block=pairwise,scan=recursive_doubling,exscan=binomial"
)


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


@pytest.mark.sampled(default=1, all=3)
@pytest.mark.parametrize(("name", "procs"), GRID.items())
def test_all_predefined_operators_types_and_algorithms(name: str, procs: int) -> None:
    assert reductions.problem_of(present(name), reductions.GRID, procs) == ""


@pytest.mark.sampled(default=2, all=6)
@pytest.mark.parametrize(("name", "procs"), [(name, n) for name, procs in RANDOM.items() for n in procs])
def test_random_reductions(name: str, procs: int) -> None:
    options = ["--calls", "400", "--seed", str(procs)]
    assert reductions.problem_of(present(name), reductions.RANDOM, procs, options) == ""


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5"])
def test_reductions_of_an_unmodified_program(name: str) -> None:
    stack = present(name)
    if name == "mpich4":
        pytest.skip("MPICH 4.0's own MPI_Reduce, with which results are compared, crashes")
    options = ["--interposed", "--calls", "300", "--seed", "5"]
    done = stack.run(3, [program_of(stack, reductions.RANDOM), *options], {"CONVENE_USE": USE})
    assert done.status == 0, done.output
    assert "all right" in done.output
    for choice in USE.split(","):
        collective, algorithm = choice.split("=", 1)
        assert algorithm in done.algorithms(collective)


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5"])
def test_wrong_arguments_reach_the_error_handler(name: str) -> None:
    """With the class of the native error, and right calls behind them work. (The MPICHs here look at no
    arguments at all.)"""
    stack = present(name)
    done = stack.run(2, [stack.program("reduction_errors")], {"CONVENE_USE": USE}, timeout=60)
    assert done.status == 0, done.output
    assert ", 0 failures" in done.output
    assert {"two_tree;segments=3"} == done.algorithms("reduce")


@pytest.mark.sampled(default=2, all=8)
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich5", "mpich5-abi"])
@pytest.mark.parametrize("kind", ["words", "bytes", "items"])
def test_large_reductions_in_little(name: str, kind: str) -> None:
    """The whole, with vectors above 2^31 bytes, is `python -m tests.conformance.large --reductions`."""
    stack = present(name)
    if kind not in large.reduction_kinds(name):
        pytest.skip("this MPI has no form for large counts")
    done = stack.run(2, [stack.program("large_reductions"), kind, "6"], {"CONVENE_USE": USE}, timeout=60)
    assert done.status == 0, done.output
    assert "2 ranks, 6 MiB each, 0 wrong" in done.output
    assert done.algorithms("reduce") == {"two_tree;segments=3"}


@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_an_operator_that_does_not_commute_is_refused_by_an_algorithm_that_needs_it(name: str) -> None:
    stack = present(name)
    done = stack.run(
        2,
        [program_of(stack, reductions.RANDOM), "--interposed", "--ordered", "--collective", "allreduce"],
        {"CONVENE_USE": "allreduce=ring"},
    )
    assert done.status == 2, done.output
    assert "ring needs a commutative operator, but that of this call does not commute" in done.output


def test_a_reproducible_run_refuses_what_depends_on_arrivals() -> None:
    stack = present("openmpi4")
    done = stack.run(
        2,
        [program_of(stack, reductions.RANDOM), "--interposed", "--collective", "reduce"],
        {"CONVENE_USE": "reduce=clairvoyant", "CONVENE_REPRODUCIBLE": "yes"},
    )
    assert done.status == 2, done.output
    assert "which --reproducible excludes" in done.output


@pytest.mark.sampled(default=3, all=8)
@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("binding", ["mpifh", "usempi", "f08"])
@pytest.mark.parametrize("procs", [1, 2, 3])
def test_fortran(name: str, binding: str, procs: int) -> None:
    stack = present(name)
    done = stack.run(procs, [stack.program(f"reductions_{binding}")], {"CONVENE_USE": USE})
    assert done.status == 0, done.output
    assert "0 failures" in done.output
    for choice in USE.split(","):
        collective, algorithm = choice.split("=", 1)
        assert algorithm in done.algorithms(collective)


@pytest.mark.sampled(default=2, all=4)
@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("procs", [1, 2, 4])
def test_requests_of_a_fortran_2008_program(name: str, procs: int) -> None:
    """MPICH's mpi_f08 calls what is beneath the C names wherever there is no buffer."""
    stack = present(name)
    uses = {"allreduce": "ring", "barrier": "dissemination"}
    variables = {"CONVENE_USE": ",".join(f"{collective}={name}" for collective, name in uses.items())}
    done = stack.run(procs, [stack.program("requests_f08")], variables, timeout=60)
    assert done.status == 0, done.output
    assert "all right" in done.output
    for collective, algorithm in uses.items():
        assert done.algorithms(collective) == {algorithm}
