# SPDX-License-Identifier: BSD-3-Clause
"""Non-blocking collectives that are outstanding while communicators are made, or come first on one."""

import pytest

from tests.conformance.stacks import Done
from tests.test_mpi_runtime import EVERY_BUILD, calls, present

EVERY_STACK = ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpich5-abi", "impi"]
USE = {"CONVENE_USE": "allgather=sparbit"}
NOT_YET = "no internal communicator yet"


def random_programs(name: str, procs: int, programs: int, seed: int) -> Done:
    stack = present(name)
    options = ["--programs", str(programs), "--seed", str(seed)]
    return stack.run(procs, [stack.program("random_creations"), *options], USE, timeout=300)


def check(done: Done) -> None:
    assert done.status == 0, done.output
    assert "all right" in done.output
    counts = calls(done)
    assert counts["sparbit", "forced"] > counts["native", NOT_YET]


@pytest.mark.all
@pytest.mark.parametrize("name", EVERY_STACK)
def test_random_programs(name: str) -> None:
    check(random_programs(name, 3, 25, 1))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 1010, 100))
@pytest.mark.parametrize("name", EVERY_STACK)
def test_thousand_random_programs(name: str, seed: int) -> None:
    check(random_programs(name, 2 if present(name).spins else 4, 100, seed))


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_non_blocking_calls_alone_are_served(name: str) -> None:
    """What MPI_Comm_idup creates alone is native until a blocking collective."""
    stack = present(name)
    done = stack.run(2, [stack.program("first_calls")], USE, timeout=60)
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert calls(done) == {("sparbit", "forced"): 2 * 17, ("native", NOT_YET): 2 * 1}
    assert any("blocking collective creates it" in text for text in done.profiles[0]["messages"])


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_native_calls_make_no_communicator_ahead(name: str) -> None:
    stack = present(name)
    done = stack.run(2, [stack.program("first_calls")], timeout=60)
    assert done.status == 0, done.output
    assert calls(done) == {("native", "default"): 2 * 18}
