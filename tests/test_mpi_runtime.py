# SPDX-License-Identifier: BSD-3-Clause
"""What only a running MPI can show of the runtime: order, communicators, threads, memory, the C API."""

import re
from collections import Counter

import pytest
from convene import _core

from tests.conformance import allgather, large
from tests.conformance.stacks import Done, Stack, all_stacks

EVERY_BUILD = ["openmpi4", "mpich4", "mpich5-abi"]  # one stack for each library
REPEATS = 1000  # in short; 10,000 and more where the sums over algorithms are counted
NO_COMMUNICATOR = "no communicator available"


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def use(spec: str) -> dict[str, str]:
    return {"CONVENE_USE": f"allgather={spec},allgatherv={spec}"}


def calls(done: Done) -> Counter[tuple[str, str]]:
    """Calls of allgather and allgatherv by algorithm and reason, all ranks together."""
    sums: Counter[tuple[str, str]] = Counter()
    for record in done.records():
        if record["collective"] not in ("allgather", "allgatherv"):
            continue  # the programs compare their results by a reduction
        sums[record["algorithm"], record["reason"]] += record["calls"]
    return sums


# ----------------------------------------------------------------------------------------------------- order


@pytest.mark.sampled(default=4, all=11)
@pytest.mark.parametrize("procs", [5, 8])
@pytest.mark.parametrize("spec", [spec for spec in allgather.usual_specs() if spec != "native"])
def test_any_order_of_ready_steps_delivers(spec: str, procs: int) -> None:
    if _core.unmet("allgather", spec, procs):
        pytest.skip(f"{spec} {_core.unmet('allgather', spec, procs)}")
    stack = present("openmpi4")
    variables = {**use(spec), "CONVENE_SHUFFLE": str(procs * 1000 + len(spec))}
    done = stack.run(procs, [stack.program("allgather_repeat"), str(REPEATS)], variables)
    assert done.status == 0, done.output
    assert f"{REPEATS} calls, 0 wrong" in done.output
    assert calls(done) == {(spec, "forced"): REPEATS * procs}


# --------------------------------------------------------------------------------------------- communicators


def test_three_thousand_communicators() -> None:
    stack = present("mpich4")
    done = stack.run(2, [stack.program("communicators"), "6", "500"], use("sparbit"))
    assert done.status == 0, done.output
    assert "made 3000, at most 500 at once, 0 wrong" in done.output
    assert calls(done) == {("sparbit", "forced"): 3000 * 2 * 2}


@pytest.mark.parametrize("name", ["mpich4", "mpich5-abi"])
def test_as_many_communicators_as_the_mpi_has(name: str) -> None:
    """If no internal communicator is available, calls are native, and a message says so."""
    stack = present(name)
    done = stack.run(
        2,
        [stack.program("communicators"), "1", "3000"],
        {**use("sparbit"), "CONVENE_COMMUNICATORS": "100000"},
    )
    assert done.status == 0, done.output
    made = re.search(r"made (\d+), at most \d+ at once, 0 wrong", done.output)
    assert made, done.output
    assert int(made[1]) > 500
    sums = calls(done)
    assert sums["sparbit", "forced"] > 500 * 2
    assert sum(sums.values()) == int(made[1]) * 2 * 2
    if sums["native", NO_COMMUNICATOR]:
        assert any("uses native algorithms only" in text for text in done.profiles[0]["messages"])


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_a_limit_on_communicators_is_kept_and_declared(name: str) -> None:
    stack = present(name)
    variables = {**use("sparbit"), "CONVENE_COMMUNICATORS": "5", "CONVENE_LOG": "info"}
    done = stack.run(2, [stack.program("communicators"), "2", "12"], variables)
    assert done.status == 0, done.output
    assert "made 24, at most 12 at once, 0 wrong" in done.output
    # MPI_COMM_WORLD has one of the 5. In each batch 4 of 12, each used twice, on two ranks.
    assert calls(done) == {("sparbit", "forced"): 2 * 4 * 2 * 2, ("native", NO_COMMUNICATOR): 2 * 8 * 2 * 2}
    assert done.output.count("than CONVENE_COMMUNICATORS allows") == 1


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_ranks_agree_although_some_have_more_communicators(name: str) -> None:
    stack = present(name)
    variables = {**use("ring"), "CONVENE_COMMUNICATORS": "5"}
    done = stack.run(3, [stack.program("communicators"), "1", "4", "3"], variables, timeout=120)
    assert done.status == 0, done.output
    assert ", 0 wrong" in done.output
    # MPI_COMM_WORLD has one, and the first two ranks have 3 between them: of the 4 of all ranks only 1 can.
    assert calls(done) == {("ring", "forced"): 3 * 2 + 1 * 2 * 3, ("native", NO_COMMUNICATOR): 3 * 2 * 3}


# --------------------------------------------------------------------------------------------------- threads


@pytest.mark.sampled(default=2, all=6)
@pytest.mark.parametrize("name", [name for name in all_stacks() if name != "mpich4"])
@pytest.mark.parametrize("spec", ["sparbit", "ring"])
def test_threads_on_different_communicators(name: str, spec: str) -> None:
    stack = present(name)
    done = stack.run(2, [stack.program("threads"), "4", "200"], use(spec), timeout=120)
    assert done.status == 0, done.output
    assert "1664 calls, 0 wrong" in done.output  # (200 + 200 / 25) of 4 threads on 2 ranks
    assert calls(done) == {(spec, "forced"): 1664}


def test_threads_where_idle_ranks_spin() -> None:
    stack = present("mpich4")
    done = stack.run(2, [stack.program("threads"), "4", "25"], use("sparbit"), timeout=200)
    assert done.status == 0, done.output
    assert "208 calls, 0 wrong" in done.output


# ---------------------------------------------------------------------------------------------------- memory


@pytest.mark.sampled(default=4, all=11)
@pytest.mark.parametrize("mode", ["compiled", "dynamic"])
@pytest.mark.parametrize("spec", [*allgather.usual_specs(), "sparbit;send=packed", "sparbit;send=datatype"])
def test_the_steady_state_allocates_nothing(spec: str, mode: str) -> None:
    stack = present("openmpi4")
    done = stack.run(2, [stack.program("allocations"), "50"], {**use(spec), "CONVENE_EXECUTE": mode})
    assert done.status == 0, done.output
    found = re.search(r"at first (\d+), then (\d+); others \d+", done.output)
    assert found, done.output
    assert int(found[1]) > 0  # the program sees what Convene allocates
    assert int(found[2]) == 0


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_c_api(name: str) -> None:
    """Among it: the memory of a communicator, after native calls and after one algorithm of Convene's."""
    stack = present(name)
    done = stack.run(2 if stack.spins else 3, [stack.program("c_api")], preload=False)
    assert done.status == 0, done.output
    assert re.search(r"^0 failures", done.output, re.MULTILINE)


@pytest.mark.sampled(default=2, all=8)
@pytest.mark.parametrize("name", EVERY_BUILD)
@pytest.mark.parametrize("kind", ["contiguous", "vector", "bytes"])
def test_large_blocks_in_little(name: str, kind: str) -> None:
    """The whole, with blocks above 2^31 bytes, is `python -m tests.conformance.large`."""
    stack = present(name)
    if kind not in large.kinds(name):
        pytest.skip("this MPI has no form for large counts")
    done = stack.run(2, [stack.program("large_counts"), kind, "3"], use("sparbit"))
    assert done.status == 0, done.output
    assert "2 blocks of 3 MiB, 0 wrong" in done.output
    assert calls(done) == {("sparbit", "forced"): 4}
