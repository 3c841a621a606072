# SPDX-License-Identifier: BSD-3-Clause
"""Learning in the running program: right results while algorithms change, and what is decided."""

from pathlib import Path

import pytest

from tests.conformance.stacks import Done, Stack, all_stacks
from tests.conftest import ROOT

OTHERS = [name for name in all_stacks() if name not in ("openmpi4", "mpich5")]
STACKS = ["openmpi4", *(pytest.param(name, marks=pytest.mark.all) for name in OTHERS)]

# Trials may take all of the time: tests are short.
LEARNING = {"CONVENE_LEARN": "yes", "CONVENE_LEARN_BUDGET": "100"}


def stack_of(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def run(stack: Stack, calls: int, *words: str, procs: int = 2, **variables: str) -> Done:
    program: list[str | Path] = [stack.program("learning"), str(calls), *words]
    done = stack.run(procs, program, {**LEARNING, **variables}, timeout=240)
    assert not done.problem(), done.problem()
    return done


def reasons(done: Done, collective: str) -> set[str]:
    return {record["reason"] for record in done.records() if record["collective"] == collective}


def calls(done: Done, collective: str, reason: str) -> int:
    return sum(
        record["calls"]
        for record in done.records()
        if record["collective"] == collective and record["reason"].startswith(reason)
    )


@pytest.mark.parametrize("name", STACKS)
def test_results_are_right_while_algorithms_are_tried(name: str) -> None:
    done = run(stack_of(name), 600)
    for collective in ("allgather", "allreduce", "barrier"):
        assert calls(done, collective, "trial") > 0, collective
    assert reasons(done, "bcast") == {"default"}


@pytest.mark.parametrize("name", STACKS)
def test_all_ranks_agree(name: str) -> None:
    run(stack_of(name), 300, "late", CONVENE_CHECK="agreement")


def test_more_ranks_than_cores() -> None:
    run(stack_of("openmpi4"), 300, procs=4)


@pytest.fixture
def slow_allgather(tmp_path: Path) -> Path:
    library = tmp_path / "libslow_allgather.so"
    stack = stack_of("openmpi4")
    stack.compile(ROOT / "tests/mpi/libraries/slow_allgather.c", library, "-shared", "-fPIC")
    return library


def run_slow(library: Path, calls: int, *words: str, **variables: str) -> Done:
    """With a native allgather that takes a millisecond."""
    stack = stack_of("openmpi4")
    program: list[str | Path] = [stack.program("learning"), str(calls), "only", *words]
    both = Path(f"{stack.preload}:{library}")
    done = stack.run(
        2, program, {**LEARNING, "SLOW_ALLGATHER": "1000", **variables}, preload=both, timeout=240
    )
    assert not done.problem(), done.problem()
    return done


def test_what_is_faster_is_kept(slow_allgather: Path) -> None:
    done = run_slow(slow_allgather, 2000)
    learned = {reason for reason in reasons(done, "allgather") if reason.startswith("learned: ")}
    assert len(learned) == 1, "all ranks decide the same"
    assert learned.pop().endswith(" calls")
    assert calls(done, "allgather", "learned") > 2 * 500


def test_nothing_is_learned_by_default(slow_allgather: Path) -> None:
    done = run_slow(slow_allgather, 600, CONVENE_LEARN="no")
    assert reasons(done, "allgather") == {"default"}


def test_nothing_is_tried_without_a_budget(slow_allgather: Path) -> None:
    done = run_slow(slow_allgather, 600, CONVENE_LEARN_BUDGET="0")
    assert reasons(done, "allgather") == {"default"}


def test_the_program_pauses_it(slow_allgather: Path) -> None:
    """The ranks agree after 256 calls, and after two pauses of 1024: it resumes in the second."""
    done = run_slow(slow_allgather, 1500, "pause")
    assert calls(done, "allgather", "default") >= 2 * (256 + 2 * 1024)
    assert calls(done, "allgather", "trial") > 0


def test_the_program_excludes_a_communicator(slow_allgather: Path) -> None:
    done = run_slow(slow_allgather, 600, "exclude")
    assert reasons(done, "allgather") == {"default"}


def test_a_budget_is_a_percentage() -> None:
    stack = stack_of("openmpi4")
    done = stack.run(
        2, [stack.program("learning"), "1"], {**LEARNING, "CONVENE_LEARN_BUDGET": "much"}, timeout=60
    )
    assert done.status == 2, done.output
    assert "CONVENE_LEARN_BUDGET='much' must be a number of percent from 0 to 100" in done.output
