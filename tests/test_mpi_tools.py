# SPDX-License-Identifier: BSD-3-Clause
"""A PMPI tool before and behind Convene: it is initialised, and counts every call that reaches it."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.stacks import ROOT, Done, Stack
from tests.test_mpi_runtime import EVERY_BUILD, present

# What tests/mpi/tool_counts.c calls on each rank.
COUNTS = {
    "Init": 1,
    "Finalize": 1,
    "Allgather": 5,
    "Iallgather": 4,
    "Allreduce": 3,
    "Bcast": 1,
    "Barrier": 4,
    "Send": 1,
    "Recv": 1,
    "Isend": 4,
    "Irecv": 6,
    "Sendrecv": 1,
    "Probe": 1,
    "Wait": 7,
    "Waitall": 4,
    "Test": 1,
    "Waitany": 2,
    "Waitsome": 1,
    "Testall": 1,
    "Testany": 1,
    "Testsome": 1,
    "Request_get_status": 1,
    "Request_free": 1,
    "Send_init": 1,
    "Start": 1,
    "Startall": 1,
    "Ssend": 1,
    "Iprobe": 1,
    "Mprobe": 1,
    "Mrecv": 1,
    "Comm_dup": 1,
    "Comm_split": 1,
    "Op_free": 1,
}


Tool = Callable[[Stack], Path]


def builder(folder: Path, name: str) -> Tool:
    def build(stack: Stack) -> Path:
        library = folder / f"lib{name}-{stack.name}.so"
        if not library.exists():
            source = ROOT / "tests" / "mpi" / "libraries" / f"{name}.c"
            stack.compile(source, library, "-shared", "-fPIC")
        return library

    return build


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """By stack: the tool's library."""
    return builder(tmp_path_factory.mktemp("tool"), "count_calls")


@pytest.fixture(scope="module")
def waiting_tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """By stack: a tool that wraps completion alone."""
    return builder(tmp_path_factory.mktemp("tool"), "wraps_waits")


def counted(done: Done) -> list[dict[str, int]]:
    """By rank. (Launchers may join the lines of two ranks.)"""
    parts = [part.partition("\n")[0] for part in done.output.split("counted by rank ")[1:]]
    return [{name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", part)} for part in parts]


def run(stack: Stack, *libraries: Path, use: str = "", **variables: str) -> Done:
    preload = Path(":".join(map(str, libraries)))
    own = {**({"CONVENE_USE": use} if use else {}), **variables}
    done = stack.run(2, [stack.program("tool_counts")], own, preload=preload, timeout=60)
    assert done.status == 0, done.output
    assert "all right" in done.output
    return done


@pytest.mark.parametrize("name", EVERY_BUILD)
@pytest.mark.parametrize("use", ["", "allgather=ring,allreduce=recursive_doubling"])
def test_a_tool_before_convene_counts_the_programs_calls(name: str, use: str, tool: Tool) -> None:
    stack = present(name)
    assert counted(run(stack, tool(stack), stack.preload, use=use)) == [COUNTS] * 2


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_a_tool_behind_convene_counts_native_calls(name: str, tool: Tool) -> None:
    stack = present(name)
    assert counted(run(stack, stack.preload, tool(stack))) == [COUNTS] * 2


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_a_tool_behind_convene_does_not_count_convenes_calls(name: str, tool: Tool) -> None:
    """Also what Convene itself sends, tests and waits for is not the program's."""
    stack = present(name)
    done = run(stack, stack.preload, tool(stack), use="allgather=ring,allreduce=recursive_doubling")
    gone = {"Allgather": 0, "Iallgather": 0, "Allreduce": 0}
    if name != "openmpi4":  # after a non-blocking call of Convene's a native barrier has that form there, too
        gone["Barrier"] = 2
    assert counted(done) == [{**COUNTS, **gone}] * 2


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_a_tool_behind_a_library_for_another_mpi(name: str, tool: Tool) -> None:
    stack = present(name)
    wrong = stack.preload.with_name(f"libconvene-preload-{'mpich' if name == 'openmpi4' else 'openmpi'}.so")
    if not wrong.exists():
        pytest.skip(f"{wrong.name} is not built here")
    assert counted(run(stack, wrong, tool(stack))) == [COUNTS] * 2


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_a_tool_behind_convene_is_initialised_with_a_progress_thread(name: str, tool: Tool) -> None:
    stack = present(name)
    done = run(stack, stack.preload, tool(stack), CONVENE_PROGRESS_THREAD="1")
    assert [counts["Init"] for counts in counted(done)] == [1, 1]


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_a_tool_behind_convene_calls_collectives_from_inside_one(name: str, tmp_path: Path) -> None:
    """More signatures than a communicator keeps decisions of: that of the outer call is dropped meanwhile."""
    stack = present(name)
    library = tmp_path / "libinside.so"
    stack.compile(ROOT / "tests/mpi/libraries/collectives_inside.c", library, "-shared", "-fPIC")
    rules = tmp_path / "rules.json"
    by_size = [  # so that each size has a decision of its own
        {"collective": "allgather", "bytes": {"min": 1 << 30}, "use": "ring"},
        {"collective": "bcast", "bytes": {"min": 1 << 30}, "use": "binomial"},
    ]
    rules.write_text(json.dumps({"convene_rules": 1, "rules": by_size}))
    # Freed memory is overwritten: what still refers to it is noticed.
    done = run(stack, stack.preload, library, CONVENE_RULES=str(rules), MALLOC_PERTURB_="165")
    calls: Counter[str] = Counter()
    for record in done.records():
        if record["algorithm"] == "native":
            calls[record["collective"]] += record["calls"]
    assert calls["allgather"] == 2 * (5 + 4)
    assert calls["bcast"] == 2 * (5 * 40 + 1)


EVERY_STACK = ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpich5-abi", "impi"]


@pytest.mark.parametrize("name", EVERY_STACK)
def test_completion_by_pmpi_functions(name: str) -> None:
    """A program may complete by PMPI_Wait what MPI_Iallgather has begun."""
    stack = present(name)
    done = stack.run(2, [stack.program("profiled_waits")], {"CONVENE_USE": "allgather=ring"}, timeout=60)
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert done.algorithms("allgather") == {"ring"}


@pytest.mark.parametrize("name", EVERY_STACK)
def test_a_tool_before_convene_that_wraps_completion_alone(name: str, waiting_tool: Tool) -> None:
    stack = present(name)
    preload = Path(f"{waiting_tool(stack)}:{stack.preload}")
    own = {"CONVENE_USE": "allgather=ring"}
    done = stack.run(2, [stack.program("profiled_waits"), "tool"], own, preload=preload, timeout=60)
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert done.algorithms("allgather") == {"ring"}
