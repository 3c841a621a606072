# SPDX-License-Identifier: BSD-3-Clause
"""The component of Open MPI: programs that preload nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from convene import _core

from tests.conformance import allgather, mpi4py_suite, random_calls, reductions
from tests.conformance.stacks import ENVIRONMENT, ROOT, Done, Stack, all_stacks, through_component
from tests.test_mpi_learning import LEARNING, calls
from tests.test_mpi_random import PERSISTENT
from tests.test_mpi_random import USE as BLOCKS
from tests.test_mpi_reductions import USE as REDUCTIONS
from tests.test_mpi_tools import COUNTS, counted
from tests.test_mpi_wisdom import LEARNED, choice, entry, place
from tests.test_mpi_wisdom import run as run_with_wisdom

RING = {"CONVENE_USE": "allgather=ring,allgatherv=ring"}
SPECS = [spec for spec in allgather.usual_specs() if spec != "native"]


@pytest.fixture(scope="module")
def stack() -> Stack:
    found = through_component()
    if not found.is_here():
        pytest.skip("the component of Open MPI 4.1 is not built here")
    return found


def run_plain(stack: Stack, variables: dict[str, str], preload: Path | bool = True) -> Done:
    done = stack.run(2, [stack.program("allgather_plain")], variables, preload=preload)
    assert done.status == 0, done.output
    assert "all right" in done.output
    return done


def ompi_info(stack: Stack, *words: str) -> str:
    environment = {**ENVIRONMENT, **os.environ, **stack.variables}
    command = ["ompi_info", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


# ---------------------------------------------------------------------------------- found, and switched off


def test_ompi_info_lists_it(stack: Stack) -> None:
    listed = ompi_info(stack)
    assert "MCA coll: convene (" in listed
    assert "MCA hook: convene (" in listed
    parameters = ompi_info(stack, "--param", "coll", "convene")
    assert 'parameter "coll_convene_priority" (current value: "95"' in parameters


def test_a_program_that_preloads_nothing(stack: Stack) -> None:
    """Its own calls run through Convene; those of MPI_Init and MPI_Finalize do not."""
    done = run_plain(stack, RING)
    assert "convene: " not in done.output
    assert [(each["algorithm"], each["reason"], each["calls"]) for each in done.records()] == [
        ("ring", "forced", 1),
        ("ring", "forced", 1),
        ("native", "default", 1),
    ] * 2


@pytest.mark.parametrize(
    "off",
    [
        {"OMPI_MCA_coll_convene_priority": "-1"},
        {"OMPI_MCA_coll": "^convene"},
        {"CONVENE": "off"},
        {"OMPI_MCA_coll_convene_priority": "5"},  # below all others
    ],
)
def test_switched_off(stack: Stack, off: dict[str, str]) -> None:
    assert run_plain(stack, {**RING, **off}).records() == []


def test_the_component_steps_aside_for_the_drop_in_library(stack: Stack) -> None:
    done = run_plain(stack, {**RING, "CONVENE_LOG": "info"}, stack.preload)
    assert done.output.count("the component of Open MPI steps aside") == 1
    assert len(done.profiles) == 2
    assert done.algorithms("allgather") == {"ring"}
    assert "steps aside" not in run_plain(stack, RING, stack.preload).output


def test_wrong_requests_end_the_program_with_a_sentence(stack: Stack) -> None:
    done = stack.run(2, [stack.program("allgather_plain")], {"CONVENE_USE": "allgather=rnig"}, timeout=60)
    assert done.status == 2
    assert done.output.count("convene: ") == 1
    assert "rnig" in done.output


# ---------------------------------------------------------------------------------------------- collectives


@pytest.mark.sampled(default=1, all=2)
@pytest.mark.parametrize("procs", [4, 5])
@pytest.mark.parametrize("spec", SPECS)
def test_every_algorithm(stack: Stack, spec: str, procs: int) -> None:
    if _core.unmet("allgather", spec, procs):
        pytest.skip(f"{spec} {_core.unmet('allgather', spec, procs)}")
    assert allgather.problem_of(stack, procs, spec, ["--quick"]) == ""


@pytest.mark.all
@pytest.mark.parametrize(
    ("program", "uses"), [("random_conformance", BLOCKS), (reductions.RANDOM, REDUCTIONS)]
)
def test_random_calls(stack: Stack, program: str, uses: str) -> None:
    """Blocking and non-blocking, with derived types and user-defined operators. (On 3 ranks Open MPI 4.1.4
    reads beyond the arrays of MPI_Ialltoallw: it counts the neighbors of a Cartesian grid.)"""
    words = ["--interposed", "--calls", "200", "--seed", "11"]
    done = stack.run(4, [random_calls.program_of(stack, program), *words], {"CONVENE_USE": uses})
    assert not done.problem(), done.problem()
    for each in uses.split(","):
        collective, algorithm = each.split("=", 1)
        assert algorithm in done.algorithms(collective)


@pytest.mark.all
@pytest.mark.sampled(all=1)
@pytest.mark.parametrize("procs", [2, 5])
def test_persistent_collectives(stack: Stack, procs: int) -> None:
    words = ["mpi"]
    done = stack.run(procs, [stack.program("persistent"), *words], {"CONVENE_USE": PERSISTENT}, timeout=60)
    assert done.status == 0, done.output
    assert "all persistent collectives are right" in done.output
    assert done.algorithms("scatterv") == {"binomial"}
    assert done.algorithms("alltoallv") == {"bruck"}


@pytest.mark.all
def test_native_persistent_collectives(stack: Stack) -> None:
    done = stack.run(2, [stack.program("persistent"), "mpi", "in-order"], {"CONVENE_USE": "bcast=native"})
    assert done.status == 0, done.output
    assert "all persistent collectives are right" in done.output
    assert done.algorithms("allgather") <= {"native"}  # such operations are not counted


@pytest.mark.parametrize("program", ["legal_programs", "first_calls", "profiled_waits"])
def test_programs_that_wait_elsewhere(stack: Stack, program: str) -> None:
    done = stack.run(2, [stack.program(program)], RING, timeout=60)
    assert done.status == 0, done.output
    assert done.algorithms("allgather") >= {"ring"}


def test_wrong_arguments_reach_the_error_handler_once(stack: Stack) -> None:
    done = stack.run(2, [stack.program("reduction_errors")], {"CONVENE_USE": REDUCTIONS}, timeout=60)
    assert done.status == 0, done.output
    assert ", 0 failures" in done.output


@pytest.mark.all
def test_fortran(stack: Stack) -> None:
    done = stack.run(2, [stack.program("allgather_f08")], RING)
    assert done.status == 0, done.output
    assert done.algorithms("allgather") == {"ring"}


@pytest.mark.all
@pytest.mark.sampled(all=1)
@pytest.mark.parametrize("spec", SPECS)
def test_mpi4py(stack: Stack, spec: str) -> None:
    """mpi4py's own tests: blocking and non-blocking."""
    try:
        mpi4py_suite.suite()
    except mpi4py_suite.NotToBeHadError as error:
        pytest.skip(str(error))
    result = mpi4py_suite.run_suite(stack, 2, spec, r"test_cco_(buf|nb_buf)\.", timeout=300)
    assert result.outcome == "passed", result.problem
    assert result.calls["allgather"] > 1000


# ------------------------------------------------------------------------------ tools, statistics, learning


def test_a_tool_sees_every_call(stack: Stack, tmp_path: Path) -> None:
    """Also those that Convene runs."""
    library = tmp_path / "libcount_calls.so"
    stack.compile(ROOT / "tests" / "mpi" / "libraries" / "count_calls.c", library, "-shared", "-fPIC")
    use = {"CONVENE_USE": "allgather=ring,allreduce=recursive_doubling"}
    done = stack.run(2, [stack.program("tool_counts")], use, preload=library)
    assert done.status == 0, done.output
    assert counted(done) == [COUNTS] * 2
    assert done.algorithms("allgather") == {"ring"}
    assert done.algorithms("allreduce") == {"recursive_doubling"}


def test_wisdom(stack: Stack, tmp_path: Path) -> None:
    done = run_with_wisdom(stack, 2, [entry(place(all_stacks()["openmpi4"]))], tmp_path)
    assert choice(done) == LEARNED


@pytest.mark.all
def test_learning(stack: Stack) -> None:
    done = stack.run(2, [stack.program("learning"), "600"], LEARNING, timeout=240)
    assert not done.problem(), done.problem()
    for collective in ("allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter"):
        assert calls(done, collective, "trial") > 0, collective


@pytest.mark.all
def test_python(stack: Stack) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    code = "from mpi4py import MPI; w = MPI.COMM_WORLD; assert w.allgather(w.rank) == list(range(w.size))"
    done = stack.run(2, [sys.executable, "-c", code], RING)
    assert done.status == 0, done.output
    assert done.algorithms("allgather") == {"ring"}
