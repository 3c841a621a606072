# SPDX-License-Identifier: BSD-3-Clause
"""CONVENE_LOG=info: one line a call signature, with what decided it. And rules files that may be absent."""

import json
from pathlib import Path

import pytest

from tests.conformance.stacks import Done
from tests.test_mpi_runtime import present

STACKS = ["openmpi4", "openmpi5", "mpich5-abi"]
RULES = [
    {"collective": "allgather", "bytes": {"min": 9}, "use": "ring"},
    {"collective": "allgather", "use": "bruck"},
]


def lines(done: Done) -> list[str]:
    assert not done.problem(), done.problem()
    return [
        line.removeprefix("convene: ") for line in done.output.splitlines() if line.startswith("convene: ")
    ]


def rules(folder: Path) -> Path:
    path = folder / "rules.json"
    path.write_text(json.dumps({"convene_rules": 1, "rules": RULES}))
    return path


@pytest.mark.parametrize("name", STACKS)
def test_one_line_a_signature(name: str, tmp_path: Path) -> None:
    stack = present(name)
    variables = {
        "CONVENE_RULES": str(rules(tmp_path)),
        "CONVENE_USE": "allgatherv=ring",
        "CONVENE_LOG": "info",
    }
    assert sorted(lines(stack.run(3, [stack.program("allgather_plain")], variables))) == [
        "allgather, 8 B, 3 ranks: bruck (rule 2 of rules.json)",
        "allgatherv, any size, 3 ranks: ring (forced)",
        "allreduce, any size, 3 ranks: native (default)",
    ]


def test_no_line_at_other_levels(tmp_path: Path) -> None:
    stack = present("openmpi4")
    for variables in ({}, {"CONVENE_LOG": "quiet"}):
        variables["CONVENE_USE"] = "allgather=ring"
        assert lines(stack.run(2, [stack.program("allgather_plain")], variables)) == []


def test_repeated_calls_and_other_communicators_print_nothing_new() -> None:
    """40 communicators of two ranks with two calls each, and many calls on one."""
    stack = present("openmpi4")
    variables = {"CONVENE_USE": "allgather=ring,allgatherv=ring", "CONVENE_LOG": "info"}
    done = stack.run(2, [stack.program("communicators"), "2", "20"], variables)
    assert done.status == 0, done.output
    for collective in ("allgather", "allgatherv"):
        assert done.output.count(f"convene: {collective}, any size, 2 ranks: ring (forced)\n") <= 1
    assert done.output.count(": ring (forced)\n") >= 1
    repeated = stack.run(2, [stack.program("allgather_repeat"), "50"], variables)
    said = [line for line in repeated.output.splitlines() if line.startswith("convene: ")]
    assert len(said) == len(set(said)) > 0


def test_what_learning_decides_is_a_line() -> None:
    """Trials are none. Each verdict that the profile has is printed."""
    stack = present("openmpi4")
    variables = {"CONVENE_LEARN": "yes", "CONVENE_LEARN_BUDGET": "100", "CONVENE_LOG": "info"}
    said = lines(done := stack.run(2, [stack.program("learning"), "1500"], variables))
    assert not any("(trial)" in line for line in said)
    reasons = {record["reason"] for record in done.records()}
    for reason in reasons:
        if reason.startswith(("learned: ", "guard: ")):
            assert any(line.endswith(f"({reason})") for line in said), (reason, said)
    assert len(said) == len(set(said))


# ---------------------------------------------------------------------------------------- optional rules


@pytest.mark.parametrize("name", STACKS)
def test_optional_rules_may_be_absent(name: str, tmp_path: Path) -> None:
    stack = present(name)
    program: list[str | Path] = [stack.program("allgather_plain")]
    absent = stack.run(2, program, {"CONVENE_RULES": f"-{tmp_path}/absent.json"})
    assert not absent.problem(), absent.problem()
    assert absent.algorithms("allgather") == {"native"}
    there = stack.run(2, program, {"CONVENE_RULES": f"-{rules(tmp_path)}"})
    assert not there.problem(), there.problem()
    assert there.algorithms("allgather") == {"bruck"}


@pytest.mark.parametrize("name", STACKS)
def test_optional_rules_that_some_ranks_lack_are_refused(name: str, tmp_path: Path) -> None:
    stack = present(name)
    rules(tmp_path).rename(tmp_path / "rules-0.json")
    own = f"CONVENE_RULES=-{tmp_path}/rules-${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}.json"
    done = stack.run(2, ["sh", "-c", f"{own} exec {stack.program('allgather_plain')}"], timeout=60)
    assert done.status == 2, done.output
    assert "the optional rules file" in done.output
    assert "differs between nodes, or is absent on some" in done.output


def test_optional_rules_must_be_sound(tmp_path: Path) -> None:
    stack = present("openmpi4")
    path = tmp_path / "rules.json"
    path.write_text("{")
    done = stack.run(2, [stack.program("allgather_plain")], {"CONVENE_RULES": f"-{path}"}, timeout=60)
    assert done.status == 2
    assert "rules.json" in done.output


def test_optional_wisdom_may_be_absent(tmp_path: Path) -> None:
    stack = present("openmpi4")
    variables = {"CONVENE_WISDOM": f"-{tmp_path}/absent.json", "CONVENE_LOG": "info"}
    said = lines(stack.run(2, [stack.program("allgather_plain")], variables))
    assert not any("absent.json" in line for line in said)
    variables["CONVENE_WISDOM"] = f"{tmp_path}/absent.json"
    said = lines(stack.run(2, [stack.program("allgather_plain")], variables))
    assert any("absent.json" in line for line in said)
