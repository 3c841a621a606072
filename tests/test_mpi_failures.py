# SPDX-License-Identifier: BSD-3-Clause
"""Failing allocations of Convene's: an error code instead of an exception that leaves the library."""

import re

import pytest

from tests.conformance.stacks import Done
from tests.test_mpi_runtime import EVERY_BUILD, present

USES = {
    "allgather": "ring",
    "allgatherv": "ring",
    "gather": "binomial",
    "gatherv": "binomial",
    "scatter": "binomial",
    "scatterv": "binomial",
    "bcast": "binomial",
    "alltoall": "bruck",
    "alltoallv": "pairwise",
    "alltoallw": "bruck",
    "barrier": "dissemination",
    "reduce": "binomial",
    "allreduce": "ring",
    "reduce_scatter_block": "ring",
    "reduce_scatter": "ring",
    "scan": "binomial",
    "exscan": "binomial",
    "neighbor_allgather": "linear",
    "neighbor_allgatherv": "linear",
    "neighbor_alltoall": "linear",
    "neighbor_alltoallv": "linear",
}
# An interrupted call keeps its communicator, and an MPI has some 2,000: few collectives per run.
GROUPS = [list(USES)[i : i + 3] for i in range(0, len(USES), 3)]


def run(name: str, procs: int, *arguments: str, use: str) -> Done:
    stack = present(name)
    return stack.run(
        procs, [stack.program("failing_allocations"), *arguments], {"CONVENE_USE": use}, timeout=120
    )


WAITING = re.compile(r"^waiting: (\w+) (.+) (\d+)$", re.MULTILINE)
# SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV are a program's own fault. The first rank that ends
# with a status makes the launcher end the others by other signals, whose names it may print.
CRASHED = re.compile(
    r"terminate called|stuck:|Illegal instruction|Aborted|Bus error|Floating point exception|Segmentation|"
    r"signal:? (4|5|6|7|8|11)\b|Signal: .*\((4|5|6|7|8|11)\)"
)


def first_wait(done: Done, number: int) -> int | None:
    """The allocation whose failure left the other rank waiting, which ends a run. None: it ended well."""
    found = WAITING.search(done.output)
    assert not CRASHED.search(done.output), done.output
    assert done.status != 124, f"no end after {number}: {done.output}"
    if not found:
        check(done)
        return None
    assert "out of memory (MPI_ERR_NO_MEM)" in done.output
    return int(found[3])


def run_on(name: str, collective: str, form: str, *options: str, use: str) -> list[int]:
    """One form on two ranks. A run ends where a rank waits for one that has failed, and the next one begins
    behind that allocation. Returns these allocations."""
    waited: list[int] = []
    number = 1
    while number < 5000:
        done = run(name, 2, *options, "--form", form, "--from", str(number), collective, use=use)
        found = first_wait(done, number)
        if found is None:
            return waited
        waited.append(found)
        number = found * 2 + 1
    return waited


def check(done: Done) -> None:
    assert done.status == 0, done.output
    assert "terminate" not in done.output
    assert ", 0 wrong" in done.output


@pytest.mark.sampled(default=4, all=17)
@pytest.mark.parametrize("collectives", GROUPS, ids=lambda group: group[0])
@pytest.mark.parametrize("chosen", ["native", "convene"])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_every_form_of_every_collective(name: str, chosen: str, collectives: list[str]) -> None:
    use = ",".join(f"{each}={USES[each] if chosen == 'convene' else 'native'}" for each in collectives)
    done = run(name, 1, *collectives, use=use)
    check(done)
    assert "out of memory (MPI_ERR_NO_MEM)" in done.output


@pytest.mark.sampled(default=2, all=8)
@pytest.mark.parametrize("procs", [1, 2])
@pytest.mark.parametrize("collectives", GROUPS, ids=lambda group: group[0])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_a_generator_fails(name: str, collectives: list[str], procs: int) -> None:
    """In every form: the call is native on all ranks, and says why."""
    stack = present(name)
    variables = {
        "CONVENE_USE": ",".join(f"{each}={USES[each]}" for each in collectives),
        "CONVENE_CHECK": "no_schedules",
    }
    done = stack.run(
        procs,
        [stack.program("failing_allocations"), "--from", "5000", *collectives],
        variables,
        timeout=120,
    )
    check(done)
    said = str([profile["messages"] for profile in done.profiles])
    for each in collectives:
        assert f"{each}={USES[each]} stays native: CONVENE_CHECK=no_schedules" in said


@pytest.mark.sampled(default=2, all=6)
@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        ("allgather", "ring"),
        ("alltoall", "bruck"),
        ("barrier", "dissemination"),
        ("allreduce", "recursive_doubling"),
    ],
)
@pytest.mark.parametrize("form", ["blocking", "non-blocking", "declared phase"])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_an_allocation_fails_on_all_ranks(name: str, form: str, collective: str, algorithm: str) -> None:
    """Ranks allocate differently: the same allocation may be elsewhere on another rank, which waits then."""
    run_on(name, collective, form, use=f"{collective}={algorithm}")


@pytest.mark.sampled(default=1, all=4)
@pytest.mark.parametrize(
    ("collective", "algorithm"), [("allgather", "ring"), ("allreduce", "recursive_doubling")]
)
@pytest.mark.parametrize("form", ["blocking", "non-blocking"])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_an_allocation_fails_on_one_rank(name: str, form: str, collective: str, algorithm: str) -> None:
    waited = run_on(name, collective, form, "--rank", "1", use=f"{collective}={algorithm}")
    assert waited or form != "blocking", (
        "a rank that fails before its first message leaves the other one waiting"
    )


@pytest.mark.sampled(default=1, all=1)
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_no_rank_is_left_while_memory_is_shared(name: str) -> None:
    """A rank whose allocation fails before its first signal leaves the other one waiting, except where the
    memory is made: there it takes part until the end. These allocations are in between."""

    def is_left(number: int) -> bool:
        options = ("--rank", "1", "--form", "blocking", "--from", str(number))
        done = run(name, 2, *options, "allreduce", use="allreduce=shared")
        return first_wait(done, number) == number

    number = 8
    while is_left(number):
        number += 1
    assert number > 8
    assert any(map(is_left, range(number + 1, number + 16)))


@pytest.mark.sampled(default=4, all=14)
@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_the_first_call_of_a_process(name: str, number: int) -> None:
    """Settings and lists of algorithms are made in it."""
    check(run(name, 1, "allgather", "first", str(number), use="allgather=ring"))
