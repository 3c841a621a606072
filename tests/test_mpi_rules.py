# SPDX-License-Identifier: BSD-3-Clause
"""Choices by rules in a running program: what is chosen, why, and what is said of one that fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.stacks import Done, all_stacks

STACKS = [name for name in all_stacks() if name != "mpich5"]  # its library is that of mpich4

Rules = list[dict[str, Any]]


def run(name: str, procs: int, rules: Rules, folder: Path, **variables: str) -> Done:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    path = folder / "rules.json"
    path.write_text(json.dumps({"convene_rules": 1, "rules": rules}))
    done = stack.run(procs, [stack.program("allgather_plain")], {"CONVENE_RULES": str(path), **variables})
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert len(done.profiles) == procs
    return done


def choices(done: Done) -> set[tuple[str, str, str]]:
    """Without the reduction by which the program sums up its failures."""
    return {
        (one["collective"], one["algorithm"], one["reason"])
        for one in done.records()
        if one["collective"] != "allreduce"
    }


@pytest.mark.parametrize("name", STACKS)
def test_the_first_rule_that_fits_decides(name: str, tmp_path: Path) -> None:
    rules: Rules = [
        {"collective": "allgather", "bytes": {"min": 9}, "use": "ring"},
        {"collective": "allgather", "nodes": {"min": 2}, "use": "bruck"},
        {"collective": "allgather", "procs": [2, 3], "use": "sparbit;send=packed"},
        {"collective": "allgather", "use": "modified_ring"},
    ]
    done = run(name, 3, rules, tmp_path)
    assert choices(done) == {
        ("allgather", "sparbit;send=packed", "rule 3 of rules.json"),
        ("allgatherv", "native", "default"),
    }
    assert {one["nodes"] for profile in done.profiles for one in profile["communicators"]} == {1}


def test_a_rule_that_cannot_be_kept_is_declared(tmp_path: Path) -> None:
    rules: Rules = [
        {"collective": "allgather", "use": "recursive_doubling"},
        {"collective": "allgatherv", "use": "neighbor_exchange"},
        {"collective": "allgatherv", "use": "ring"},
    ]
    done = run("openmpi4", 3, rules, tmp_path, CONVENE_LOG="info")
    assert choices(done) == {
        ("allgather", "native", "default"),
        ("allgatherv", "ring", "rule 3 of rules.json"),
    }
    for part in (
        "rule 1 of rules.json is skipped",
        "rule 2 of rules.json is skipped",
        "power of two",
        "even",
    ):
        assert any(part in message for message in done.profiles[0]["messages"])
        assert done.output.count(part) == 1


def test_what_is_forced_goes_before_rules(tmp_path: Path) -> None:
    rules: Rules = [{"collective": "allgather", "use": "ring"}, {"collective": "allgatherv", "use": "ring"}]
    done = run("openmpi4", 2, rules, tmp_path, CONVENE_USE="allgather=bruck")
    assert choices(done) == {
        ("allgather", "bruck", "forced"),
        ("allgatherv", "ring", "rule 2 of rules.json"),
    }


def test_without_a_choice_the_mpi_decides(tmp_path: Path) -> None:
    done = run("openmpi4", 2, [], tmp_path)
    assert choices(done) == {("allgather", "native", "default"), ("allgatherv", "native", "default")}
    assert all(one["calls"] == 1 for one in done.records())
