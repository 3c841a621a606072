# SPDX-License-Identifier: BSD-3-Clause
"""Wisdom in a running program: what it decides, where it is refused, and what is said."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.stacks import ENVIRONMENT, Done, Stack, all_stacks
from tests.conftest import ROOT

OTHERS = [name for name in all_stacks() if name not in ("openmpi4", "mpich5")]
STACKS = ["openmpi4", *(pytest.param(name, marks=pytest.mark.all) for name in OTHERS)]


def stack_of(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def place(stack: Stack) -> dict[str, Any]:
    """The place of this machine under a stack, as the measuring program writes it."""
    library = {"openmpi": "openmpi", "mpich": "mpich", "abi": "abi"}[stack.library]
    program = Path(str(stack.preload.parent.parent / "bin" / f"convene-bench-{library}"))
    command = [*stack.command(2, [program, "barrier", "--sizes", "0"], None, []), "--contenders", "native"]
    done = subprocess.run(
        [*command, "--repetitions", "1"],
        env={**ENVIRONMENT, **os.environ, **stack.variables},
        capture_output=True,
        text=True,
        check=True,
    )
    environment = json.loads(done.stdout[done.stdout.index("{") :].splitlines()[0])["environment"]
    from convene import _core

    return {**_core.place(environment["mpi"]), "cpu": environment["processor"]}


def entry(here: dict[str, Any], **others: Any) -> dict[str, Any]:
    procs = others.get("procs", 2)
    return {
        **here,
        "collective": "allgather",
        "procs": procs,
        "nodes": 1,
        "ranks_per_node": procs,
        "shares_cores": procs > here["cores"],
        "bytes": [1, 1024],
        "use": "ring",
        "ratio": 0.5,
        "upper": 0.6,
        "measured": "2026-11-26",
        **others,
    }


def run(
    stack: Stack,
    procs: int,
    entries: list[dict[str, Any]],
    folder: Path,
    preload: Path | bool = True,
    **variables: str,
) -> Done:
    path = folder / "wisdom.json"
    path.write_text(json.dumps({"convene_wisdom": 1, "entries": entries}))
    path.chmod(0o644)
    program = [stack.program("allgather_plain")]
    environment = {"CONVENE_WISDOM": str(path), **variables}
    done = stack.run(procs, program, environment, preload=preload, timeout=60)
    assert done.status == 0, done.output
    assert "all right" in done.output
    return done


def choice(done: Done, collective: str = "allgather") -> set[tuple[str, str]]:
    return {
        (record["algorithm"], record["reason"])
        for record in done.records()
        if record["collective"] == collective
    }


NATIVE = {("native", "default")}
LEARNED = {("ring", "wisdom: 0.50 of native, 2026-11-26")}


@pytest.mark.parametrize("name", STACKS)
def test_what_was_measured_here_decides(name: str, tmp_path: Path) -> None:
    stack = stack_of(name)
    here = place(stack)
    done = run(stack, 2, [entry(here)], tmp_path)
    assert choice(done) == LEARNED
    assert choice(done, "allgatherv") == NATIVE
    # Rank 0 alone has looked at the file, and all ranks have decided the same.
    assert choice(run(stack, 2, [entry(here)], tmp_path, CONVENE_CHECK="agreement")) == LEARNED


@pytest.mark.parametrize("name", STACKS)
def test_wisdom_for_more_ranks_costs_no_agreement(name: str, tmp_path: Path) -> None:
    """As many collectives of Convene's as without entries; the nodes are found where an entry may hold."""
    stack, library = stack_of(name), tmp_path / "libcount_internal.so"
    stack.compile(ROOT / "tests/mpi/libraries/count_internal.c", library, "-shared", "-fPIC")
    here, found = place(stack), []
    for entries in ([], [entry(here, procs=3)], [entry(here)]):
        preload = Path(f"{stack.preload}:{library}")
        done = run(stack, 2, entries, tmp_path, preload=preload)
        found.append(sorted(int(count) for count in re.findall(r"internal collectives: (\d+)", done.output)))
    assert len(found[0]) == 2
    assert found[0] == found[1]
    assert found[1] < found[2]


@pytest.mark.parametrize(
    "others",
    [
        {"mpi": "Open MPI 0.1"},
        {"cpu": "another"},
        {"cores": 999},
        {"procs": 3, "ranks_per_node": 3, "shares_cores": True},
        {"nodes": 2, "ranks_per_node": 1},
        {"bytes": [9, 1024]},
        {"upper": 0.98, "ratio": 0.9},
        {"use": "native"},
    ],
)
def test_what_was_measured_elsewhere_does_not_count(others: dict[str, Any], tmp_path: Path) -> None:
    stack = stack_of("openmpi4")
    assert choice(run(stack, 2, [entry(place(stack), **others)], tmp_path)) == NATIVE


def test_forced_choices_and_rules_go_before(tmp_path: Path) -> None:
    stack = stack_of("openmpi4")
    entries = [entry(place(stack))]
    assert choice(run(stack, 2, entries, tmp_path, CONVENE_USE="allgather=bruck")) == {("bruck", "forced")}


def test_integer_sums_need_less_evidence_than_floating_point(tmp_path: Path) -> None:
    """The program sums up an integer at its end."""
    stack = stack_of("openmpi4")
    allreduce = entry(place(stack), collective="allreduce", use="recursive_doubling", upper=0.95)
    assert choice(run(stack, 2, [allreduce], tmp_path), "allreduce") == {
        ("recursive_doubling", "wisdom: 0.50 of native, 2026-11-26")
    }


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda path: path.chmod(0o666), "is writable by other users"),
        (lambda path: path.write_text('{"convene_wisdom": 1, "entr'), "is not JSON"),
        (lambda path: path.unlink(), "cannot be read"),
        (lambda path: path.write_text('{"convene_wisdom": 9, "entries": []}'), '"convene_wisdom": 1'),
    ],
)
def test_damaged_wisdom_is_refused_in_a_sentence(damage: Any, sentence: str, tmp_path: Path) -> None:
    stack = stack_of("openmpi4")
    path = tmp_path / "wisdom.json"
    path.write_text(json.dumps({"convene_wisdom": 1, "entries": [entry(place(stack))]}))
    damage(path)
    done = stack.run(
        2,
        [stack.program("allgather_plain")],
        {"CONVENE_WISDOM": str(path), "CONVENE_LOG": "info"},
        timeout=60,
    )
    assert done.status == 0, done.output
    assert choice(done) == NATIVE
    assert sentence in done.output


def test_switched_off_convene_steps_aside(tmp_path: Path) -> None:
    stack = stack_of("openmpi4")
    done = run(stack, 2, [entry(place(stack))], tmp_path, CONVENE="off", CONVENE_USE="allgather=nonsense")
    assert done.profiles == []
