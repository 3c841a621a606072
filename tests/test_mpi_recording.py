# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of real programs, and convene trace on them."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convene.trace import files, lateness, recordings

from tests.conformance.stacks import ENVIRONMENT, ROOT, Stack, all_stacks, run_with_timeout

EVERY_BUILD = ["openmpi4", "mpich4", "mpich5-abi"]  # one stack for each library
CONVENE = str(ROOT / ".venv" / "bin" / "convene")
CALLS = 20
LATE = 1
SHIFT = 1000  # seconds


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def late(stack: Stack, calls: int = CALLS, program: str = "late") -> list[str | Path]:
    """A program in which rank LATE is late to every allgather, and to nothing else: by more than a rank that
    waits usually loses its core for."""
    milliseconds = "20" if calls <= CALLS else "10"
    return [stack.program(program), str(LATE), milliseconds, str(calls)]


def record(
    stack: Stack, folder: Path, variables: Mapping[str, str] | None = None, calls: int = CALLS
) -> recordings.Recording:
    done = stack.run(3, late(stack, calls), {**(variables or {}), "CONVENE_RECORD": str(folder)})
    assert done.status == 0, done.output
    assert f"{calls} calls" in done.output
    return recordings.read(folder)


def by_collective(recording: recordings.Recording) -> dict[str, lateness.Calls]:
    return {calls.kind.collective: calls for calls in lateness.summarize(recording).kinds}


@pytest.mark.parametrize("name", EVERY_BUILD)
@pytest.mark.parametrize("use", ["", "allgather=ring,allreduce=ring,bcast=binomial,barrier=dissemination"])
def test_every_call_is_recorded(name: str, use: str, tmp_path: Path) -> None:
    recording = record(present(name), tmp_path, {"CONVENE_USE": use} if use else {})
    assert (recording.ranks, recording.procs, recording.lost, recording.messages) == (3, 3, 0, [])
    assert recording.error == 0  # one machine, one clock
    found = by_collective(recording)
    counts = {collective: len(calls) for collective, calls in found.items()}
    assert counts == {"allgather": CALLS, "allreduce": CALLS // 4, "bcast": 1, "barrier": 1}
    allgather = found["allgather"]
    assert allgather.kind.algorithm == ("ring" if use else "native")
    assert allgather.kind.place.startswith("main (")
    assert allgather.sizes.tolist() == [64] * CALLS
    assert allgather.often_last[0] == LATE
    assert not found["barrier"].kind.blocking
    assert found["bcast"].kind.members == (0, 2)
    assert recording.alone == 1  # rank 1's half has no other rank
    for calls in found.values():
        assert not np.isnan(calls.exits).any()
        assert (calls.exits >= calls.arrivals).all()
    # No rank leaves an allgather before the last one came, save by the error of one clock.
    assert (allgather.exits.min(axis=1) > allgather.arrivals.max(axis=1) - 1e-6).all()
    in_order = [calls.arrivals[np.argsort(calls.number)] for calls in found.values()]
    assert all((np.diff(arrivals, axis=0) > 0).all() for arrivals in in_order)


def test_the_ring_keeps_the_latest_calls(tmp_path: Path) -> None:
    recording = record(present("openmpi4"), tmp_path, {"CONVENE_RECORD_CALLS": "8"})
    (world, half) = recording.communicators
    assert len(world.arrivals) == 8
    assert world.first == CALLS + CALLS // 4 + 1 - 8
    assert len(half.arrivals) == 1
    assert recording.lost == world.first


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_calls_between_two_groups(name: str, tmp_path: Path) -> None:
    """An intercommunicator has the ranks of both groups, those with rank 0 first."""
    stack = present(name)
    done = stack.run(5, late(stack, program="groups"), {"CONVENE_RECORD": str(tmp_path)})
    assert done.status == 0, done.output
    recording = recordings.read(tmp_path)
    assert (recording.ranks, recording.lost, recording.messages) == (5, 0, [])
    (both,) = recording.communicators
    assert both.members == [0, 2, 4, 1, 3]
    found = by_collective(recording)
    assert {collective: len(calls) for collective, calls in found.items()} == {
        "allgather": CALLS,
        "bcast": 1,
        "barrier": 1,
    }
    assert not found["barrier"].kind.blocking
    allgather = found["allgather"]
    assert (allgather.kind.algorithm, allgather.kind.reason) == ("native", "intercommunicator")
    assert allgather.often_last[0] == LATE
    # The other group waits for the one that is late; its own need not.
    evens = allgather.exits[:, :3].min(axis=1)
    assert (evens > allgather.arrivals[:, 3] - 1e-6).all()


PERSISTENT = "allgather=sparbit,scatterv=binomial,bcast=binomial,alltoall=bruck,alltoallv=bruck,"
PERSISTENT += "allreduce=recursive_doubling,gather=binomial,barrier=dissemination"
ROUNDS = 9
OPERATIONS = {"allgather": 2, "alltoallv": 2} | dict.fromkeys(
    ["scatterv", "bcast", "alltoall", "allreduce", "gather", "barrier"], 1
)  # each with few items, then with many (tests/mpi/persistent.cpp)
SIZELESS = {"barrier", "scatterv", "alltoallv"}  # no size of theirs is equal on all ranks


@pytest.mark.parametrize("use", ["", PERSISTENT])
@pytest.mark.parametrize(
    ("name", "kind"), [("openmpi5", "mpi"), ("mpich5", "mpi"), ("openmpi4", "convene"), ("mpich4", "convene")]
)
def test_starts_of_persistent_operations(name: str, kind: str, use: str, tmp_path: Path) -> None:
    """Each rank starts Convene's in another order; native ones do not support that here."""
    stack = present(name)
    program: list[str | Path] = [stack.program("persistent"), kind, *([] if use else ["in-order"])]
    variables = {"CONVENE_RECORD": str(tmp_path)} | ({"CONVENE_USE": use} if use else {})
    done = stack.run(2, program, variables, timeout=60)
    assert done.status == 0, done.output
    recording = recordings.read(tmp_path)
    assert (recording.lost, recording.messages) == (0, [])
    operations = [each for each in recording.communicators if len(each.arrivals) == ROUNDS]
    found = Counter(each.sites[each.site[0]].collective for each in operations)
    assert found == {collective: 2 * number for collective, number in OPERATIONS.items()}
    for operation in operations:
        assert not operation.sites[0].blocking
        assert operation.sizes[0] > 0 or operation.sites[0].collective in SIZELESS
        # The rounds follow each other on all ranks: so starts that belong together have been put together.
        assert (operation.arrivals[1:].min(axis=1) > operation.arrivals[:-1].max(axis=1)).all()


def test_starts_of_a_fortran_program(tmp_path: Path) -> None:
    """Their places are in the program, not in the library that they come through."""
    program = present("mpich4").program("requests_f08")  # Open MPI 4 has no such calls
    done = present("mpich4").run(2, [program], {"CONVENE_RECORD": str(tmp_path)}, timeout=60)
    assert done.status == 0, done.output
    _, *operations = sorted(recordings.read(tmp_path).communicators, key=lambda each: -len(each.sites))
    assert len(operations) == 2
    for operation in operations:  # started alone and with the other
        assert len(operation.sites) == 2
        assert {site.object for site in operation.sites} == {str(program)}


@pytest.mark.parametrize("value", ["1", "0", "1000000000000", "some"])
def test_a_wrong_number_of_calls(value: str, tmp_path: Path) -> None:
    stack = present("openmpi4")
    variables = {"CONVENE_RECORD": str(tmp_path), "CONVENE_RECORD_CALLS": value}
    done = stack.run(2, late(stack), variables)
    assert done.status == 2, done.output
    assert done.output.count("convene: CONVENE_RECORD_CALLS") == 1


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    stack = present("openmpi4")
    done = stack.run(2, late(stack), {"CONVENE_RECORD": str(tmp_path / "nowhere")})
    assert done.status == 0  # the program's own work is done
    lines = [line for line in done.output.splitlines() if "cannot write the recording" in line]
    assert len(lines) == 2
    assert all(line.endswith(": No such file or directory") for line in lines)


def test_a_full_disk_keeps_no_parts(full_disk: Path) -> None:
    stack = present("openmpi4")
    done = stack.run(2, late(stack), {"CONVENE_RECORD": str(full_disk)})
    assert done.status == 0
    lines = [line for line in done.output.splitlines() if "cannot write the recording" in line]
    assert len(lines) == 2
    assert all(line.endswith(".bin: No space left on device") for line in lines)
    assert [path.name for path in full_disk.iterdir()] == ["filler"]


def can_shift_clocks() -> bool:
    shifting = ["unshare", "--time", "--monotonic", "1", "--fork", "true"]
    try:
        return subprocess.run(shifting, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def record_with_shifted_clock(stack: Stack, program: str, folder: Path) -> recordings.Recording:
    """The last rank of three is in a time namespace of its own."""
    variables = {**stack.variables, "CONVENE_RECORD": str(folder)}
    if stack.is_hydra:
        given = ["-genv", "LD_PRELOAD", str(stack.preload)]
    else:
        given = ["-x", f"LD_PRELOAD={stack.preload}", *(word for name in variables for word in ("-x", name))]
    words = [str(word) for word in late(stack, 150, program)]
    shifted = ["unshare", "--time", "--monotonic", str(SHIFT), "--fork", *words]
    second = given if not stack.is_hydra else []
    command = [stack.launcher, *given, "-n", "2", *words, ":", *second, "-n", "1", *shifted]
    status, output = run_with_timeout(command, {**ENVIRONMENT, **os.environ, **variables}, 120)
    assert status == 0, output
    recording = recordings.read(folder)
    assert (recording.ranks, recording.lost, recording.messages) == (3, 0, [])
    return recording


@pytest.mark.parametrize("name", EVERY_BUILD)
@pytest.mark.parametrize("program", ["late", "groups"])
def test_ranks_whose_clocks_differ(name: str, program: str, tmp_path: Path) -> None:
    """A rank whose clock is ahead: times compare nevertheless."""
    stack = present(name)
    if not can_shift_clocks():
        pytest.skip("this machine has no time namespaces, or no right to use them")
    for number in range(3):  # on a busy machine, all round trips may take long
        folder = tmp_path / str(number)
        folder.mkdir()
        recording = record_with_shifted_clock(stack, program, folder)
        allgather = by_collective(recording)["allgather"]
        if recording.error < 0.01 and allgather.often_last[0] == LATE:
            break
    assert 0 < recording.error < 0.01
    assert allgather.often_last[0] == LATE
    # All ranks are inside while the last one comes: clocks that are off by more than the error would show.
    late_exits = allgather.exits.min(axis=1) - allgather.arrivals.max(axis=1)
    assert (late_exits > -2 * recording.error).all()
    with next(folder.glob("*-2.bin")).open("rb") as file:
        head = json.loads(file.readline())
    offset = head["communicators"][-1]["clock"]["offset"] * 1e-9
    assert offset == pytest.approx(SHIFT, abs=0.01)


def convene(*words: object) -> "subprocess.CompletedProcess[str]":
    command = [CONVENE, *map(str, words)]
    environment = {**ENVIRONMENT, **os.environ}
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, env=environment)


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_trace_of_an_unmodified_program(name: str, tmp_path: Path) -> None:
    stack = present(name)
    chrome, arrivals = tmp_path / "t.json", tmp_path / "t.txt"
    options = ("--json", "--export", chrome, "--arrivals", arrivals)
    done = convene("trace", *options, "--", stack.launcher, "-n", 3, *late(stack))
    assert done.returncode == 0, done.stderr
    received: dict[str, Any] = json.loads(done.stdout.partition("\n")[2])  # after the program's own line
    assert received["calls"] == CALLS + CALLS // 4 + 2
    assert received["sites"][0]["often_last"] == LATE
    assert len(json.loads(chrome.read_text())["traceEvents"]) > 3 * CALLS
    lines = [line.split() for line in arrivals.read_text().splitlines() if not line.startswith("#")]
    assert [len(line) for line in lines] == [3] * CALLS
    assert all(min(map(float, line)) == 0 for line in lines)


def test_report_says_who_was_late(tmp_path: Path) -> None:
    stack = present("openmpi4")
    page, received = tmp_path / "r.html", tmp_path / "r.json"
    folder = tmp_path / "recorded"
    for path in (page, received):
        extra = ("--record", folder) if path == received else ()
        done = convene("run", *extra, "--report", path, "--", stack.launcher, "-n", 3, *late(stack))
        assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "Late ranks" in text
    assert f"rank {LATE} arrived last in" in text
    assert "http" not in text.replace("http://www.w3.org", "")
    late_rank = json.loads(received.read_text())["lateness"]["by_rank"][LATE]
    assert late_rank["last"] >= CALLS // 2
    assert len(files.files_in(folder)) == 3
    assert "rank 1" in convene("trace", folder).stdout


def test_python_programs_are_recorded(tmp_path: Path) -> None:
    stack = present("openmpi4")
    pytest.importorskip("mpi4py")
    program = tmp_path / "app.py"
    program.write_text(
        "from mpi4py import MPI\n"
        "for i in range(5):\n"
        "    MPI.COMM_WORLD.allgather(i)\n"
        "MPI.COMM_WORLD.Barrier()\n"
    )
    folder = tmp_path / "recorded"
    done = convene("run", "--record", folder, "--", stack.launcher, "-n", 2, sys.executable, program)
    assert done.returncode == 0, done.stderr
    found = by_collective(recordings.read(folder))
    assert len(found["barrier"]) == 1
    assert sum(len(calls) for name, calls in found.items() if name.startswith("allgather")) >= 5


def test_a_program_that_dies_leaves_no_recording() -> None:
    stack = present("openmpi4")
    done = convene("trace", "--", stack.launcher, "-n", 2, "false")
    assert done.returncode == 1
    assert "no rank wrote a recording" in done.stderr


# --------------------------------------------------------------------------------- a rank that is missing


@pytest.mark.parametrize("name", EVERY_BUILD)
@pytest.mark.parametrize("execution", ["compiled", "dynamic"])
def test_who_is_missing_is_said_once(name: str, execution: str) -> None:
    stack = present(name)
    variables = {
        "CONVENE_USE": "allgather=ring",
        "CONVENE_EXECUTE": execution,
        "CONVENE_WAIT_WARNING": "0.2",
    }
    done = stack.run(3, [stack.program("late"), "1", "1500", "1"], variables)
    assert done.status == 0, done.output
    assert "1 calls" in done.output
    said = [line for line in done.output.splitlines() if "has waited 200ms for rank" in line]
    about_1 = [line for line in said if "for rank 1, in a collective called at " in line]
    assert any("rank 2 has waited" in line for line in about_1), done.output
    assert not any("rank 1 has waited" in line for line in said)
    assert len(said) == len(set(said)) == 2  # rank 0 waits for rank 2, which waits for rank 1


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_who_is_missing_in_a_collective_that_was_started(name: str) -> None:
    stack = present(name)
    variables = {"CONVENE_USE": "allgather=ring", "CONVENE_WAIT_WARNING": "0.2"}
    done = stack.run(3, [stack.program("late"), "1", "1500", "2", "started"], variables)
    assert done.status == 0, done.output
    said = [line for line in done.output.splitlines() if "has waited 200ms for rank" in line]
    about_1 = [line for line in said if line.endswith("for rank 1, in a collective that it started")]
    assert any("rank 2 has waited" in line for line in about_1), done.output
    assert not any("rank 1 has waited" in line for line in said)


@pytest.mark.parametrize("name", EVERY_BUILD)
@pytest.mark.parametrize("use", ["", "allgather=ring", "allgather=shared"])
def test_who_waits_inside_the_mpi_says_so(name: str, use: str) -> None:
    """In native collectives, and where Convene finds the nodes or makes its communicator."""
    stack = present(name)
    variables = {"CONVENE_USE": use, "CONVENE_WAIT_WARNING": "0.2"}
    calls = 1 if use else 3
    arguments = ["1", "1000", str(calls), *(["apart"] if use == "allgather=ring" else [])]
    done = stack.run(3, [stack.program("late"), *arguments], variables)
    assert done.status == 0, done.output
    said = [line for line in done.output.splitlines() if "has waited 200ms inside the MPI library" in line]
    assert len(said) == 2 * calls, done.output
    makes = [line for line in said if ", which creates the internal communicator of Convene; " in line]
    assert len(makes) == (2 if use == "allgather=ring" else 0)
    assert all(" called at late+0x" in line and "ranks of this 3-rank comm" in line for line in said)
    assert sum("rank 0 has" in line for line in said) == sum("rank 2 has" in line for line in said) == calls


@pytest.mark.parametrize("value", ["soon", "-1", "5 parsecs"])
def test_a_wrong_time_to_wait(value: str) -> None:
    stack = present("openmpi4")
    done = stack.run(2, late(stack), {"CONVENE_WAIT_WARNING": value})
    assert done.status == 2, done.output
    assert done.output.count("convene: CONVENE_WAIT_WARNING: ") == 1
