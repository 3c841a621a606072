# SPDX-License-Identifier: BSD-3-Clause
"""Messages over libfabric (CONVENE_TRANSPORT=fabric) in real programs."""

import pytest

from tests.conformance import random_calls, reductions
from tests.test_mpi_random import PERSISTENT, USE, present

STACKS = ("openmpi4", "openmpi5", "mpich5")
PROVIDERS = (  # with a protocol
    "tcp",
    "shm",
    "tcp:notified",
    "shm:notified",
    "tcp:hybrid",
    "shm:hybrid:1KiB",
)
TRAVELS = "messages travel over libfabric"
ARE_NATIVE = "messages are those of the MPI, not of a fabric: "


def over(provider: str, use: str) -> dict[str, str]:
    return {"CONVENE_TRANSPORT": f"fabric:{provider}", "CONVENE_USE": use, "CONVENE_LOG": "info"}


@pytest.mark.sampled(default=2, all=12)
@pytest.mark.parametrize(
    ("provider", "thread"),
    [
        ("tcp", "0"),
        ("shm", "0"),
        ("tcp", "1"),
        ("tcp:notified", "0"),
        ("shm:notified", "0"),
        ("tcp:notified", "1"),
        ("tcp:hybrid:200", "0"),
        ("shm:hybrid:200", "0"),
        ("tcp:hybrid:200", "1"),
    ],
)
@pytest.mark.parametrize("name", STACKS)
def test_random_calls_of_an_unmodified_program(name: str, provider: str, thread: str) -> None:
    """Blocking calls beside operations that are pending, which the progress thread may advance."""
    stack = present(name)
    options = ["--interposed", "--calls", "200", "--seed", "17"]
    variables = over(provider, USE) | {"CONVENE_PROGRESS_THREAD": thread}
    done = stack.run(4, [random_calls.program_of(stack), *options], variables)
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert done.output.count(TRAVELS) == 1
    for choice in USE.split(","):
        collective, algorithm = choice.split("=", 1)
        assert algorithm in done.algorithms(collective)


@pytest.mark.sampled(default=1, all=6)
@pytest.mark.parametrize("provider", ["tcp", "tcp:notified", "tcp:hybrid:200"])
@pytest.mark.parametrize("procs", [3, 5])
@pytest.mark.parametrize("name", STACKS)
def test_random_calls_of_all_algorithms(
    name: str, procs: int, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVENE_TRANSPORT", f"fabric:{provider}")
    options = ["--calls", "200", "--seed", str(procs)]
    assert random_calls.problem_of(present(name), procs, options) == ""
    assert reductions.problem_of(present(name), reductions.RANDOM, procs, options) == ""


@pytest.mark.sampled(default=1, all=7)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", STACKS)
def test_legal_programs_end(name: str, provider: str) -> None:
    """What another rank waits for is sent after its own collective: waits progress the MPI."""
    stack = present(name)
    variables = over(provider, "allgather=sparbit,bcast=binomial")
    variables["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"  # so that senders must progress
    done = stack.run(2, [stack.program("legal_programs")], variables, timeout=60)
    assert done.status == 0, done.output
    assert "all legal programs have ended" in done.output
    assert TRAVELS in done.output


@pytest.mark.sampled(default=1, all=6)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_persistent_collectives(name: str, provider: str) -> None:
    stack = present(name)
    done = stack.run(3, [stack.program("persistent"), "mpi"], over(provider, PERSISTENT), timeout=60)
    assert done.status == 0, done.output
    assert "all persistent collectives are right" in done.output
    assert TRAVELS in done.output


@pytest.mark.sampled(default=1, all=5)
@pytest.mark.parametrize("provider", ["tcp", "tcp:notified", "tcp:hybrid:64"])
@pytest.mark.parametrize("name", STACKS)
def test_threads_on_different_communicators(name: str, provider: str) -> None:
    stack = present(name)
    done = stack.run(2, [stack.program("threads"), "4", "50"], over(provider, "allgather=ring"), timeout=120)
    assert done.status == 0, done.output
    assert "416 calls, 0 wrong" in done.output  # (50 + 50 / 25) of 4 threads on 2 ranks
    assert TRAVELS in done.output


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        (
            {"CONVENE_LIBFABRIC": "/nowhere/libfabric.so"},
            "CONVENE_LIBFABRIC cannot be loaded: /nowhere/libfabric.so",
        ),
        ({"CONVENE_TRANSPORT": "fabric:pigeon"}, "has no provider 'pigeon'"),
        (
            {"CONVENE_TRANSPORT": "fabric:pigeon:notified"},
            "has no provider 'pigeon' with tagged messages and puts with notification",
        ),
        (
            {"CONVENE_TRANSPORT": "fabric:pigeon:hybrid:8KiB"},
            "has no provider 'pigeon' with tagged messages and puts with notification",
        ),
    ],
    ids=["no library", "no provider", "no provider for puts", "no provider for both"],
)
def test_without_a_fabric_messages_are_those_of_the_mpi(variables: dict[str, str], reason: str) -> None:
    stack = present("openmpi4")
    done = stack.run(2, [stack.program("allgather_plain")], over("tcp", "allgather=ring") | variables)
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert done.output.count(ARE_NATIVE) == 1
    assert reason in done.output
    assert done.algorithms("allgather") == {"ring"}


@pytest.mark.parametrize(
    ("most", "other"),
    [("tcp", "tcp:notified"), ("tcp:notified", "tcp:hybrid"), ("tcp:hybrid:100001", "tcp:hybrid:100000")],
)
def test_ranks_with_different_protocols_use_the_mpi(most: str, other: str) -> None:
    stack = present("openmpi4")
    script = f'test $OMPI_COMM_WORLD_RANK = 1 && export CONVENE_TRANSPORT=fabric:{other}; exec "$0"'
    program = str(stack.program("allgather_plain"))
    done = stack.run(3, ["sh", "-c", script, program], over(most, "allgather=ring"))
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert "ranks have different providers or protocols" in done.output


def test_ranks_that_disagree_use_the_mpi() -> None:
    """One rank has no library: all stay with the MPI."""
    stack = present("openmpi4")
    script = 'test $OMPI_COMM_WORLD_RANK = 1 && export CONVENE_LIBFABRIC=/nowhere; exec "$0"'
    program = str(stack.program("allgather_plain"))
    done = stack.run(3, ["sh", "-c", script, program], over("tcp", "allgather=ring"))
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert "another rank cannot use one" in done.output
    assert TRAVELS not in done.output


def test_a_protocol_that_is_not_known() -> None:
    stack = present("openmpi4")
    done = stack.run(2, [stack.program("allgather_plain")], over("tcp:hybird", "allgather=ring"))
    assert done.status == 2
    assert "CONVENE_TRANSPORT='fabric:tcp:hybird' is not known; try one of: mpi, fabric," in done.output
    assert "fabric:PROVIDER:hybrid:SIZE" in done.output


def test_the_report_names_the_limit_of_tagged_messages() -> None:
    stack = present("openmpi4")
    done = stack.run(2, [stack.program("allgather_plain")], over("tcp:hybrid:8KiB", "allgather=ring"))
    assert done.status == 0, done.output
    assert "puts with notification above 8 KiB" in done.output
