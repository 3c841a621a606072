# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchical and remapped collectives in running programs: on nodes that are declared, since all ranks of a
test share one, and on those that the MPI finds."""

import pytest

from tests.conformance import random_calls, reductions
from tests.conformance.stacks import Done, Stack, all_stacks

# With one leader a node: the program's communicators have nodes of one rank, too.
HIERARCHICAL = (
    "allgather=hier(sparbit,linear)",
    "allgatherv=locality_bruck(ring)",
    "gather=hier(binomial,linear)",
    "gatherv=hier(linear,binomial)",
    "scatter=hier(binomial,linear)",
    "scatterv=hier(linear,binomial)",
    "bcast=hier(scatter_allgather,chain)",
    "alltoall=hier(pairwise,linear)",
    "alltoallv=remap(pairwise;order=cyclic)",
    "barrier=hier(dissemination,binomial)",
)
REMAPPED = (
    "allgather=remap(ring;blocks=copied)",
    "allgatherv=remap(sparbit;order=fitted)",
    "gather=remap(binomial;order=cyclic)",
    "gatherv=remap(binomial)",
    "scatter=remap(binomial;blocks=copied)",
    "scatterv=remap(nway_binomial)",
    "bcast=remap(binomial)",
    "alltoall=remap(pairwise;blocks=copied)",
    "alltoallv=remap(bruck;order=fitted)",
    "barrier=remap(tree;order=fitted)",
)
PLACEMENTS = {
    "cyclic": {"CONVENE_MACHINE": "node:2 core:3", "CONVENE_MAPPING": "cyclic"},
    "irregular": {"CONVENE_MAPPING": "4,0,0,2,0"},
}


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


@pytest.mark.sampled(default=3, all=8)
@pytest.mark.parametrize("uses", [HIERARCHICAL, REMAPPED], ids=["hier", "remap"])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_random_calls(name: str, placement: str, uses: tuple[str, ...]) -> None:
    stack = present(name)
    options = ["--interposed", "--calls", "150", "--seed", "5"]
    variables = {"CONVENE_USE": ",".join(uses), **PLACEMENTS[placement]}
    done = stack.run(5, [random_calls.program_of(stack), *options], variables)
    assert done.status == 0, done.output
    assert "all right" in done.output
    for use in uses:
        collective, algorithm = use.split("=", 1)
        assert algorithm in done.algorithms(collective)


def allgather(uses: str, procs: int, **variables: str) -> Done:
    stack = present("openmpi4")
    return stack.run(procs, [stack.program("allgather_plain")], {"CONVENE_USE": uses, **variables})


def test_several_leaders() -> None:
    spec = "hier(sparbit,linear;leaders=2)"
    done = allgather(f"allgather={spec}", 5, CONVENE_MAPPING="0,1,0,1,1", CONVENE_CHECK="agreement")
    assert done.status == 0, done.output
    assert done.algorithms("allgather") == {spec}
    assert {one["nodes"] for profile in done.profiles for one in profile["communicators"]} == {2}


def test_the_nodes_that_the_mpi_finds() -> None:
    """All ranks share one."""
    done = allgather("allgather=hier(sparbit,binomial;leaders=2)", 4)
    assert done.status == 0, done.output
    assert {one["nodes"] for profile in done.profiles for one in profile["communicators"]} == {1}


@pytest.mark.parametrize(
    ("uses", "variables", "complaint"),
    [
        (
            "allgather=hier(sparbit,linear;leaders=3)",
            {"CONVENE_MAPPING": "0,0,0,1"},
            "needs 3 leaders on each node, and the node of rank 3 has only 1 rank",
        ),
        (
            "allgather=hier(recursive_doubling,linear)",
            {"CONVENE_MAPPING": "0,1,2,2"},
            "cannot be: recursive_doubling between nodes needs a number of processes that is a power of two",
        ),
        (
            "allgather=hier(sparbit,linear)",
            {"CONVENE_MAPPING": "0,1,2"},
            'CONVENE_MAPPING: the placement "0,1,2" names 3 nodes for 4 processes',
        ),
        (
            "allgather=hier(sparbit,linear)",
            {"CONVENE_MACHINE": "node:1 core:2"},
            "CONVENE_MACHINE: 4 processes do not fit",
        ),
    ],
)
def test_what_cannot_be_is_said(uses: str, variables: dict[str, str], complaint: str) -> None:
    done = allgather(uses, 4, **variables)
    assert done.status != 0
    assert complaint in done.output


@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_random_reductions(name: str) -> None:
    """All algorithms of reductions, among them every composition with one leader a node."""
    options = ["--calls", "300", "--seed", "3"]
    assert reductions.problem_of(present(name), reductions.RANDOM, 5, options, nodes="0,1,1,0,1") == ""
