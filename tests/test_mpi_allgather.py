# SPDX-License-Identifier: BSD-3-Clause
"""Allgathers of unmodified programs, in C, C++ and Fortran, through the drop-in library: the short form.

The whole is `python -m tests.conformance.allgather`."""

import pytest
from convene import _core

from tests.conformance import allgather
from tests.conformance.stacks import Stack, all_stacks

FORTRAN_CALLS = {"allgather": 8, "allgatherv": 2}  # what tests/mpi/allgather_fortran.inc makes on each rank


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


@pytest.mark.sampled(default=6, all=14)
@pytest.mark.parametrize("procs", [4, 5])
@pytest.mark.parametrize("spec", allgather.usual_specs())
def test_every_algorithm(spec: str, procs: int) -> None:
    if _core.unmet("allgather", spec, procs):
        pytest.skip(f"{spec} {_core.unmet('allgather', spec, procs)}")
    assert allgather.problem_of(present("openmpi4"), procs, spec, ["--quick"]) == ""


@pytest.mark.sampled(default=4, all=8)
@pytest.mark.parametrize(
    "spec",
    [
        "sparbit;send=packed",
        "sparbit;send=datatype",
        "bruck;ports=2;last=balanced",
        "segmented_ring;segments=3",
    ],
)
@pytest.mark.parametrize("mode", ["compiled", "dynamic", "shuffled", "agreement", "small cache"])
def test_every_way_of_running(spec: str, mode: str) -> None:
    assert allgather.problem_of(present("openmpi4"), 3, spec, ["--quick"], allgather.MODES[mode]) == ""


@pytest.mark.sampled(default=3, all=10)
@pytest.mark.parametrize("spec", ["native", "sparbit", "bruck;ports=2"])
@pytest.mark.parametrize("name", [name for name in all_stacks() if name != "openmpi4"])
def test_every_stack(name: str, spec: str) -> None:
    stack = present(name)
    procs = 2 if stack.spins else 3
    assert allgather.problem_of(stack, procs, spec, ["--quick"]) == ""


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpich5-abi"])
def test_the_program_agrees_with_the_mpi_itself(name: str) -> None:
    """Without Convene: so that a failure under Convene is Convene's."""
    stack = present(name)
    skipped = [word for section in allgather.NATIVE_LIMITS.get(name, []) for word in ("--skip", section)]
    done = stack.run(2, [stack.program(allgather.PROGRAM), "--quick", *skipped], preload=False)
    assert done.status == 0, done.output
    assert ", 0 failures" in done.output
    assert done.profiles == []


@pytest.mark.sampled(default=3, all=8)
@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("binding", ["mpifh", "usempi", "f08"])
@pytest.mark.parametrize("procs", [1, 2, 3])
def test_fortran(name: str, binding: str, procs: int) -> None:
    stack = present(name)
    program = stack.program(f"allgather_{binding}")
    done = stack.run(procs, [program], {"CONVENE_USE": "allgather=sparbit,allgatherv=ring"})
    assert done.status == 0, done.output
    assert "0 failures" in done.output
    calls = {
        (record["collective"], record["algorithm"]): sum(
            other["calls"] for other in done.records() if other["algorithm"] == record["algorithm"]
        )
        for record in done.records()
        if record["collective"] != "allreduce"  # by which the program sums up its failures
    }
    assert calls == {
        ("allgather", "sparbit"): FORTRAN_CALLS["allgather"] * procs,
        ("allgatherv", "ring"): FORTRAN_CALLS["allgatherv"] * procs,
    }


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5"])  # MPICH's MPI_Waitsome ends the program
def test_an_error_of_a_message_is_told_in_any_order(name: str) -> None:
    """Such a run waits for several messages at a time, and MPI_Waitsome says only that one of them failed."""
    stack = present(name)
    use = {"CONVENE_USE": "allgather=ring", "CONVENE_SHUFFLE": "3"}
    done = stack.run(2, [stack.program(allgather.PROGRAM), "--only", "truncation"], use)
    assert done.status == 0, done.output
    assert "2 calls, 0 failures" in done.output
