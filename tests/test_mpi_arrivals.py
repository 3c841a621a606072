# SPDX-License-Identifier: BSD-3-Clause
"""Arrivals that repeat, in programs that declare nothing (CONVENE_ARRIVALS=auto)."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import arrival_storm
from tests.conformance.stacks import ROOT, Done, Stack, all_stacks

EVERY_BUILD = ["openmpi4", "mpich4", "mpich5-abi"]  # one stack for each library
AUTO = {"CONVENE_ARRIVALS": "auto"}


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def calls(done: Done, collective: str) -> Counter[tuple[str, str]]:
    sums: Counter[tuple[str, str]] = Counter()
    for record in done.records():
        if record["collective"] == collective:
            sums[record["algorithm"], record["reason"]] += record["calls"]
    return sums


def tallies_of(done: Done) -> list[dict[str, Any]]:
    """Of the collectives that may use forecasts, on all ranks."""
    return [
        tally
        for profile in done.profiles
        for communicator in profile["communicators"]
        for tally in communicator["phases"]
    ]


def run_until(
    is_seen: Callable[[Done], bool],
    stack: Stack,
    procs: int,
    program: Sequence[str | Path],
    variables: Mapping[str, str],
) -> Done:
    """On a busy machine ranks may be late by chance so often that a run uses no forecast: up to four runs,
    which must all be right."""
    for _ in range(4):
        done = stack.run(procs, program, variables, timeout=120)
        assert done.status == 0, done.output
        assert "calls, all right" in done.output
        if is_seen(done):
            break
    return done


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_a_rank_that_is_always_late_is_noticed(name: str) -> None:
    stack = present(name)
    procs = 3 if stack.spins else 4

    def is_seen(done: Done) -> bool:
        return stack.spins or calls(done, "allgather")["list_scheduled", "forecast"] > 0

    done = run_until(is_seen, stack, procs, [stack.program("imbalanced"), "100", "4096", "40", "1"], AUTO)
    used = calls(done, "allgather")
    assert sum(used.values()) == 100 * procs
    # All ranks have used the same in every call.
    assert all(number % procs == 0 for number in used.values())
    # It is tried, alternating with native; how long depends on what is measured. (Where
    # idle ranks spin on fewer cores than there are ranks, no time can be predicted.)
    assert is_seen(done)
    tallies = tallies_of(done)
    assert len(tallies) == procs
    assert all(tally["phases"] > 0 for tally in tallies)


@pytest.mark.sampled(default=1, all=3)
@pytest.mark.parametrize("what", ["allgather", "allreduce", "reduce"])
@pytest.mark.parametrize("language", ["mpi4py", "fortran"])
def test_in_other_languages(language: str, what: str) -> None:
    """The benchmark's programs: right whatever is tried."""
    stack = present("openmpi4")
    if language == "mpi4py":
        pytest.importorskip("mpi4py")
        program: list[str | Path] = [sys.executable, ROOT / "tests" / "mpi" / "imbalanced.py"]
    else:
        program = [stack.program("imbalanced_f08")]
    done = stack.run(3, [*program, "40", "4096", "8", "1", what], AUTO, timeout=120)
    assert done.status == 0, done.output
    assert "40 calls, all right" in done.output
    assert sum(calls(done, what).values()) == 40 * 3 + (what == "reduce") * 3 * (language == "fortran")


@pytest.mark.parametrize("calls", [3, 4, 6, 7])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_a_program_may_end_while_answers_are_on_their_way(name: str, calls: int) -> None:
    # Ranks tell each other after the third call; the answers are needed after the sixth.
    stack = present(name)
    done = stack.run(3, [stack.program("imbalanced"), str(calls), "8192", "3", "1"], AUTO, timeout=60)
    assert done.status == 0, done.output
    assert f"{calls} calls, all right" in done.output


@pytest.mark.parametrize("name", ["openmpi4", "mpich5-abi"])
def test_communicators_go_while_answers_are_on_their_way(name: str) -> None:
    stack = present(name)
    program: list[str | Path] = [
        stack.program("imbalanced"),
        "6600",
        "4096",
        "0",
        "0",
        "allgather",
        "renewing",
    ]
    done = stack.run(3, program, AUTO, timeout=120)
    assert done.status == 0, done.output
    assert "6600 calls, all right" in done.output


@pytest.mark.parametrize("name", ["openmpi4", "mpich5-abi"])
def test_ranks_that_are_late_in_turn_are_noticed(name: str) -> None:
    stack = present(name)
    program: list[str | Path] = [
        stack.program("imbalanced"),
        *("160", "4096", "30", "1", "allgather", "rotating"),
    ]

    def is_seen(done: Done) -> bool:
        return calls(done, "allgather")["list_scheduled", "forecast"] > 0

    for more in ({}, {"CONVENE_PROGRESS_THREAD": "1"}):
        assert is_seen(run_until(is_seen, stack, 4, program, {**AUTO, **more}))


def test_a_reduction_uses_forecasts_unless_it_is_to_be_reproducible() -> None:
    stack = present("openmpi4")
    program: list[str | Path] = [stack.program("imbalanced"), "100", "32768", "12", "1", "reduce"]

    def reduces(done: Done) -> bool:
        return calls(done, "reduce")["list_scheduled", "forecast"] > 0

    def reduces_for_all(done: Done) -> bool:
        used = calls(done, "allreduce")
        return all(used[algorithm, "forecast"] > 0 for algorithm in ("slt;segments=32", "prr"))

    assert reduces(run_until(reduces, stack, 4, program, AUTO))
    assert reduces_for_all(run_until(reduces_for_all, stack, 4, [*program[:-1], "allreduce"], AUTO))
    done = stack.run(4, program, {**AUTO, "CONVENE_REPRODUCIBLE": "yes"}, timeout=120)
    assert done.status == 0, done.output
    assert {algorithm for algorithm, _ in calls(done, "reduce")} == {"native"}


@pytest.mark.parametrize(
    ("what", "algorithm"), [("bcast", "list_scheduled"), ("gather", "sls"), ("scatter", "sln")]
)
def test_rooted_collectives_use_forecasts(what: str, algorithm: str) -> None:
    stack = present("openmpi4")
    program: list[str | Path] = [stack.program("imbalanced"), "100", "32768", "12", "1", what]

    def is_seen(done: Done) -> bool:
        return calls(done, what)[algorithm, "forecast"] > 0

    done = run_until(is_seen, stack, 4, program, AUTO)
    assert is_seen(done)
    assert all(number % 4 == 0 for number in calls(done, what).values())  # the same on all ranks


@pytest.mark.parametrize(("name", "what"), [("openmpi4", "allgather"), ("mpich5-abi", "allreduce")])
def test_an_algorithm_is_chosen_for_the_forecast(name: str, what: str) -> None:
    """One candidate of a trial is the one that is predicted to be the fastest, besides the fixed ones."""
    stack = present(name)
    fixed = {"allgather": {"list_scheduled"}, "allreduce": {"slt;segments=32", "prr"}}[what]
    block = {"allgather": "4096", "allreduce": "32768"}[what]
    done = stack.run(4, [stack.program("imbalanced"), "100", block, "40", "1", what], AUTO, timeout=120)
    assert done.status == 0, done.output
    assert "100 calls, all right" in done.output
    used = calls(done, what)
    chosen = {algorithm for algorithm, reason in used if reason == "forecast"} - fixed
    assert chosen
    assert "native" not in chosen
    assert all(number % 4 == 0 for number in used.values())  # the same on all ranks


def test_what_is_chosen_or_small_is_left_alone() -> None:
    stack = present("openmpi4")
    program = stack.program("imbalanced")
    done = stack.run(4, [program, "60", "16", "5", "1"], AUTO, timeout=120)
    assert done.status == 0, done.output
    assert {algorithm for algorithm, _ in calls(done, "allgather")} == {"native"}
    done = stack.run(4, [program, "60", "4096", "5", "1"], {**AUTO, "CONVENE_USE": "allgather=ring"})
    assert done.status == 0, done.output
    assert set(calls(done, "allgather")) == {("ring", "forced")}


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_an_allgather_begins_before_it_is_called(name: str) -> None:
    """What ranks that have come send travels while the late one computes; whatever comes instead is right."""
    stack = present(name)
    procs = 3 if stack.spins else 4
    environment = {**AUTO, "CONVENE_PROGRESS_THREAD": "1"}

    def is_seen(done: Done) -> bool:
        """Whether a trial begins is a matter of times where idle ranks spin; else it does."""
        early = [each["early_messages"] for each in tallies_of(done) if each["collective"] == "allgather"]
        return stack.spins or sum(early) > 0

    done = run_until(is_seen, stack, procs, [stack.program("ahead"), "60", "4096"], environment)
    assert "364 calls, all right" in done.output
    assert is_seen(done)
    without = stack.run(procs, [stack.program("ahead"), "30", "4096"], AUTO, timeout=180)
    assert without.status == 0, without.output
    assert all(tally["early_messages"] == 0 for tally in tallies_of(without))


@pytest.mark.sampled(default=1, all=2)
@pytest.mark.parametrize("mode", arrival_storm.MODES)
@pytest.mark.parametrize(("name", "procs"), [("openmpi4", 3), ("openmpi5", 5), ("mpich5", 4), ("mpich4", 2)])
def test_everything_at_the_same_time(name: str, procs: int, mode: str) -> None:
    """The whole is `python -m tests.conformance.arrival_storm`."""
    assert arrival_storm.problem_of(present(name), procs, mode, 0.05, procs) == ""
