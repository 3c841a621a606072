# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms whose ranks share memory, on every stack."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from convene import _core

from tests.conformance import random_calls, reductions
from tests.conformance.stacks import Done, Stack, all_stacks

STACKS = ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpich5-abi", "impi"]
SPECS = {
    "random_conformance": [
        "bcast shared;segments=1",
        "bcast shared;segments=3",
        "bcast shared;segments=2;degree=3",
        "allgather shared",
        "allgather shared;segments=3",
        "allgather shared;direct=1",
        "allgatherv shared",
        "allgatherv shared;segments=3",
        "allgatherv shared;direct=1",
        "barrier shared",
        "gather shared",
        "gather shared;segments=3",
        "scatter shared",
        "scatter shared;segments=3",
        "alltoall shared",
        "alltoall shared;segments=3",
        *(
            f"{collective} shared_head{head}"
            for collective in ("gatherv", "scatterv", "alltoallv", "alltoallw")
            for head in ("", ";head=16", ";head=1000")
        ),
    ],
    "random_reductions": [
        "reduce shared;segments=1",
        "reduce shared;segments=3",
        "reduce in_situ",
        "allreduce in_situ",
        "allreduce shared",
        "reduce_scatter_block shared",
        "reduce_scatter_block shared;segments=3",
        "reduce_scatter shared",
        "reduce_scatter shared;segments=3",
        "scan shared",
        "scan shared;segments=3;direct=1",
        "exscan shared;segments=3",
        "exscan shared;direct=1",
    ],
}


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def left_over() -> list[Path]:
    return list(Path("/dev/shm").glob("convene-*"))


@pytest.mark.sampled(default=2, all=8)
@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("reduce", ["shared", "in_situ"])
@pytest.mark.parametrize("procs", [2, 5])
def test_whoever_is_late(name: str, reduce: str, procs: int) -> None:
    """Blocking and non-blocking calls share memory, except large ones until it is mapped."""
    stack = present(name)
    variables = {"CONVENE_USE": f"reduce={reduce},bcast=shared;segments=5", "CONVENE_LOG": "info"}
    rounds = "150"
    done = stack.run(procs, [stack.program("deciding"), rounds], variables, timeout=120)
    assert done.status == 0, done.output
    assert f"{rounds} rounds, 0 failures" in done.output
    for collective, spec in [("reduce", _core.spec("reduce", reduce)), ("bcast", "shared;segments=5")]:
        assert spec in done.algorithms(collective) <= {spec, "native"}
        calls = [record["calls"] for record in done.records() if record["collective"] == collective]
        native = [
            record["calls"]
            for record in done.records()
            if record["collective"] == collective and record["algorithm"] == "native"
        ]
        assert sum(native) < sum(calls) / 20
        assert f"{collective}, non-blocking, 3.91 KiB, {procs} ranks, root 0: {spec} (forced)" in done.output
    assert not left_over()


@pytest.mark.sampled(default=2, all=8)
@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("mode", ["compiled", "dynamic", "shuffled"])
@pytest.mark.parametrize("program", SPECS)
def test_random_calls(name: str, mode: str, program: str) -> None:
    stack = present(name)
    if (name, program) == ("mpich4", "random_reductions"):
        pytest.skip("MPICH 4.0's own MPI_Reduce, with which results are compared, crashes")
    variables = {"CONVENE_SHUFFLE": "7"} if mode == "shuffled" else {"CONVENE_EXECUTE": mode}
    options = reductions.options_of(stack, program)
    done = stack.run(
        4,
        [random_calls.program_of(stack, program), *options, "--calls", "300", "--seed", "5"],
        {"CONVENE_TEST_SPECS": "\n".join(SPECS[program]), **variables},
        preload=False,
        timeout=120,
    )
    assert done.status == 0, done.output
    assert "all right" in done.output


# Blocks of up to 56 bytes travel in their signals. Two algorithms of a collective share memory in turn.
RULES: list[dict[str, Any]] = [
    {"collective": "allreduce", "bytes": [0, 256], "use": "shared"},
    {"collective": "allreduce", "use": "in_situ"},
    {"collective": "allgather", "bytes": [0, 80], "use": "shared;direct=8"},
    {"collective": "allgather", "use": "shared;direct=1"},
    {"collective": "allgatherv", "bytes": [0, 80], "use": "shared;direct=8"},
    {"collective": "allgatherv", "use": "shared;segments=3"},
    {"collective": "bcast", "bytes": [0, 4096], "use": "shared;segments=1"},
    {"collective": "bcast", "use": "shared;segments=5"},
    {"collective": "reduce", "bytes": [0, 4096], "use": "shared;segments=1"},
    {"collective": "reduce", "use": "in_situ"},
    {"collective": "barrier", "use": "shared"},
    {"collective": "gather", "bytes": [0, 4096], "use": "shared"},
    {"collective": "gather", "use": "shared;segments=5"},
    {"collective": "scatter", "bytes": [0, 4096], "use": "shared"},
    {"collective": "scatter", "use": "shared;segments=5"},
    {"collective": "alltoall", "bytes": [0, 4096], "use": "shared"},
    {"collective": "alltoall", "use": "shared;segments=5"},
    {"collective": "gatherv", "use": "shared_head;head=1000"},
    {"collective": "scatterv", "use": "shared_head;head=50"},
    {"collective": "alltoallv", "use": "shared_head;head=300"},
    {"collective": "reduce_scatter_block", "bytes": [0, 4096], "use": "shared"},
    {"collective": "reduce_scatter_block", "use": "shared;segments=5"},
    {"collective": "scan", "bytes": [0, 4096], "use": "shared"},
    {"collective": "scan", "use": "shared;segments=5;direct=1"},
    {"collective": "exscan", "bytes": [0, 4096], "use": "shared"},
    {"collective": "exscan", "use": "shared;segments=5;direct=1"},
]


def shared_runs(name: str, procs: int, folder: Path, *words: str) -> Done:
    path = folder / "rules.json"
    path.write_text(json.dumps({"convene_rules": 1, "rules": RULES}))
    stack = present(name)
    return stack.run(procs, [stack.program("shared_runs"), *words], {"CONVENE_RULES": str(path)}, timeout=60)


@pytest.mark.sampled(default=1, all=6)
@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("procs", [2, 5])
def test_ranks_that_are_calls_ahead(name: str, procs: int, tmp_path: Path) -> None:
    """They free communicators and end, while a late rank still reads; algorithms and sizes alternate."""
    rounds = "4" if name == "mpich4" else "12"  # its ranks take turns on shared cores slowly
    done = shared_runs(name, procs, tmp_path, rounds)
    assert done.status == 0, done.output
    assert f"{rounds} rounds, all right" in done.output
    for collective in dict.fromkeys(rule["collective"] for rule in RULES):
        used = {rule["use"] for rule in RULES if rule["collective"] == collective}
        assert done.algorithms(collective) == {_core.spec(collective, use) for use in used}
    assert not left_over()


@pytest.fixture
def two_cpus() -> Iterator[None]:
    """Programs that the test starts run on two CPUs."""
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        pytest.skip("there is one CPU")
    os.sched_setaffinity(0, sorted(before)[:2])
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.sampled(default=2, all=6)
@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("wait", ["automatic", "poll", "sleep"])
@pytest.mark.usefixtures("two_cpus")
def test_ranks_that_share_cores_sleep(name: str, wait: str) -> None:
    """All ranks agree: they sleep if some rank has no CPU of its own, or if the setting says so."""
    stack = present(name)
    use = "reduce=shared;segments=1,bcast=shared;segments=1"
    variables = {"CONVENE_USE": use, "CONVENE_SHARED_WAIT": wait, "CONVENE_LOG": "info"}
    for procs in (2, 3):
        done = stack.run(procs, [stack.program("deciding"), "30"], variables, timeout=60)
        assert done.status == 0, done.output
        assert "30 rounds, 0 failures" in done.output
        sleep = wait == "sleep" or (wait == "automatic" and procs == 3)
        assert ("ranks share cores: they sleep" in done.output) == sleep, done.output


@pytest.mark.sampled(default=3, all=7)
@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("thread", ["0", "1"])
@pytest.mark.parametrize("how", ["mixed", "only"])
@pytest.mark.parametrize("procs", [2, 5])
def test_several_calls_outstanding(name: str, procs: int, how: str, thread: str, tmp_path: Path) -> None:
    """More than there are lanes, of all collectives and on several communicators; completed in any order."""
    path = tmp_path / "rules.json"
    rules = [*RULES, {"collective": "reduce_scatter", "use": "shared"}]
    rules = [each for each in rules if not each["collective"].endswith("v")]  # random_conformance has others
    path.write_text(json.dumps({"convene_rules": 1, "rules": rules}))
    stack = present(name)
    variables = {"CONVENE_RULES": str(path), "CONVENE_PROGRESS_THREAD": thread}
    done = stack.run(procs, [stack.program("outstanding"), "4", how], variables, timeout=60)
    assert done.status == 0, done.output
    assert "4 rounds, all right" in done.output
    for collective in dict.fromkeys(rule["collective"] for rule in rules):
        used = {_core.spec(collective, rule["use"]) for rule in rules if rule["collective"] == collective}
        assert used & done.algorithms(collective)
        if how == "only" and procs == 2:  # what is mapped ahead is enough
            communicators = [each for profile in done.profiles for each in profile["communicators"]]
            records = [record for each in communicators if each["procs"] > 1 for record in each["records"]]
            assert {each["algorithm"] for each in records if each["collective"] == collective} <= used
    assert not left_over()


@pytest.mark.sampled(default=2, all=5)
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich5"])
@pytest.mark.parametrize("memory", ["64MiB", "400KiB", "0"])
def test_persistent_operations_share_memory(name: str, memory: str) -> None:
    """Each has a memory of its own, as far as the limit allows: ranks start them in different orders."""
    stack = present(name)
    shared = "allgather=shared,bcast=shared,alltoall=shared,allreduce=in_situ,gather=shared,barrier=shared"
    use = f"{shared},scatterv=binomial,alltoallv=bruck"
    order = [] if memory == "64MiB" else ["in-order"]  # native operations need it
    variables = {"CONVENE_USE": use, "CONVENE_SHARED_MEMORY": memory}
    done = stack.run(3, [stack.program("persistent"), "mpi", *order], variables, timeout=60)
    assert done.status == 0, done.output
    assert "all persistent collectives are right" in done.output
    shares = {
        record["algorithm"]
        for record in done.records()
        if record["collective"] == "alltoall" and record["reason"] == "forced"
    }
    assert (shares == set()) == (memory == "0")
    assert not left_over()


@pytest.mark.sampled(default=1, all=4)
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich5", "mpich5-abi", "impi"])
def test_nothing_is_left_of_a_killed_program(name: str, tmp_path: Path) -> None:
    done = shared_runs(name, 3, tmp_path, "12", "killed")
    assert done.status not in (0, 124), done.output
    assert "first round right" in done.output
    assert "FAILED" not in done.output
    assert "all right" not in done.output
    assert not left_over()


@pytest.mark.parametrize("name", ["openmpi5", "mpich5"])
def test_no_more_memory_than_allowed(name: str) -> None:
    stack = present(name)
    variables = {
        "CONVENE_USE": "bcast=shared;segments=3",
        "CONVENE_SHARED_MEMORY": "4KiB",
        "CONVENE_LOG": "info",
    }
    done = stack.run(4, [stack.program("deciding"), "60"], variables, timeout=120)
    assert "60 rounds, 0 failures" in done.output
    assert "but CONVENE_SHARED_MEMORY allows 4 KiB" in done.output
    assert done.algorithms("bcast") == {"shared;segments=3", "native"}  # small ones, and the others


@pytest.mark.parametrize("name", ["openmpi5", "mpich5"])
def test_ranks_on_several_nodes(name: str) -> None:
    """Within nodes as part of a composition; a whole communicator that has several is refused."""
    stack = present(name)
    nodes = {"CONVENE_MAPPING": "0,0,0,1,1"}
    use = "bcast=hier(binomial,shared),reduce=hier(binomial,shared),allreduce=hier(ring,in_situ,shared)"
    done = stack.run(5, [stack.program("deciding"), "60"], {"CONVENE_USE": use, **nodes}, timeout=120)
    assert "60 rounds, 0 failures" in done.output, done.output
    assert done.algorithms("bcast") == {"hier(binomial,shared)"}
    done = stack.run(
        5, [stack.program("deciding"), "60"], {"CONVENE_USE": "bcast=shared", **nodes}, timeout=120
    )
    assert done.status != 0
    assert "bcast=shared needs all processes on one node" in done.output


@pytest.mark.parametrize("name", ["openmpi5", "mpich5"])
def test_unequal_blocks(name: str) -> None:
    """Gathered within nodes through shared memory; blocks that are too large together are native."""
    stack = present(name)
    program: list[str | Path] = [stack.program("shared_runs"), "3"]
    use = "hier(ring,shared,linear)"
    nodes = {"CONVENE_MAPPING": "0,0,0,1,1", "CONVENE_USE": f"allgatherv={use}"}
    done = stack.run(5, program, nodes, timeout=60)
    assert "3 rounds, all right" in done.output, done.output
    assert done.algorithms("allgatherv") == {_core.spec("allgatherv", use)}
    little = {"CONVENE_USE": "allgatherv=shared", "CONVENE_SHARED_MEMORY": "4KiB", "CONVENE_LOG": "info"}
    done = stack.run(4, program, little, timeout=60)
    assert "3 rounds, all right" in done.output, done.output
    assert done.algorithms("allgatherv") == {_core.spec("allgatherv", "shared"), "native"}
    assert "but CONVENE_SHARED_MEMORY allows 4 KiB" in done.output


@pytest.mark.sampled(default=1, all=6)
@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("procs", [2, 3])
def test_legal_programs_end(name: str, procs: int) -> None:
    """Native communication progresses while ranks wait in shared memory."""
    stack = present(name)
    use = "bcast=shared;segments=1,allgather=shared,allreduce=in_situ"
    done = stack.run(procs, [stack.program("legal_programs")], {"CONVENE_USE": use}, timeout=60)
    assert done.status == 0, done.output
    assert "all legal programs have ended" in done.output


def test_parts_of_parts_share_memory() -> None:
    """A composition within another: on each node, its ranks."""
    for collective, spec, mapping in [
        ("bcast", "remap(hier(binomial,shared))", "0,0,1,1,1"),
        ("allgatherv", "hier(ring,shared,linear)", "0,0,1,1,1"),
        ("reduce", "hier(binomial,in_situ)", "0,1,0,1,0,1,0,1"),
        ("allreduce", "hier(ring,in_situ,shared)", "0,0,0,1,1,1,1,1"),
    ]:
        procs = mapping.count(",") + 1
        assert not _core.unmet(collective, spec, procs, "", mapping)
        verdict = _core.check(
            _core.ScheduleRequest(collective=collective, spec=spec, procs=procs, placement=mapping)
        )
        assert verdict["ok"], verdict
