# SPDX-License-Identifier: BSD-3-Clause
"""Calls at the edges of what MPI allows, and programs that treat it roughly."""

import json
from pathlib import Path

import pytest

from tests.conformance.stacks import Done
from tests.test_mpi_runtime import EVERY_BUILD, calls, present, use


def run(name: str, corner: str, variables: dict[str, str], procs: int = 2) -> Done:
    stack = present(name)
    return stack.run(procs, [stack.program("corners"), corner], variables, timeout=60)


@pytest.mark.parametrize("corner", ["types", "failing", "callback", "destructor"])
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_corner(name: str, corner: str) -> None:
    done = run(name, corner, use("ring"))
    assert done.status == 0, done.output
    assert "0 wrong" in done.output
    if corner == "callback":
        assert "in the callback 0 wrong" in done.output
    assert calls(done)["ring", "forced"] > 0  # the profile is there, however the program ends


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_copy_callbacks_are_not_called_by_a_first_non_blocking_call(name: str) -> None:
    """One of them runs collectives, another fails on one rank: the collective succeeds."""
    stack = present(name)
    done = stack.run(3, [stack.program("copy_callback")], use("ring"), timeout=60)
    assert done.status == 0, done.output
    assert "0 callbacks, 0 wrong" in done.output
    assert calls(done)["ring", "forced"] > 0


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_arrays_that_a_program_lets_go_of_too_early(name: str) -> None:
    uses = "allgatherv=ring,gatherv=binomial,scatterv=binomial,alltoallv=pairwise"
    done = run(name, "arrays", {"CONVENE_USE": uses}, procs=3)
    assert done.status == 0, done.output
    assert "0 wrong" in done.output
    forced = {record["collective"] for record in done.records() if record["reason"] == "forced"}
    assert forced == {"allgatherv", "gatherv", "scatterv", "alltoallv"}


@pytest.mark.parametrize(
    ("corner", "uses"),
    [
        ("elsewhere", "gather=linear_sync,scatterv=sbn"),
        ("elsewhere", "gather=bsls,scatterv=linear_sync"),
        ("counts", "reduce_scatter=recursive_halving"),
        ("counts", "reduce_scatter=ring"),
        ("counts", "reduce_scatter=native"),
        ("exscan", "exscan=recursive_doubling"),
        ("exscan", "exscan=binomial"),
        ("handles", "allreduce=recursive_doubling"),
        ("handles", "allreduce=ring"),
        ("beside", "allgather=ring"),
        ("beside", "allgather=sparbit"),
        ("ahead", "bcast=arrival_b,gather=linear"),
        ("ahead", "bcast=arrival_nb,gather=linear"),
    ],
)
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_what_is_not_the_same_in_every_call(name: str, corner: str, uses: str) -> None:
    done = run(name, corner, {"CONVENE_USE": uses}, procs=4)
    assert done.status == 0, done.output
    assert "0 wrong" in done.output
    for use_of in uses.split(","):
        collective, algorithm = use_of.split("=")
        assert any(found.startswith(algorithm) for found in done.algorithms(collective))


def test_calls_of_two_collectives_by_turns_are_counted_apart() -> None:
    done = run("openmpi4", "alternating", {"CONVENE_USE": "allgather=ring"})
    assert done.status == 0, done.output
    assert calls(done) == {("ring", "forced"): 2 * 10, ("native", "default"): 2 * 5}


def test_rules_of_nodes_where_the_mpi_has_no_communicator_left(tmp_path: Path) -> None:
    rules = tmp_path / "nodes.json"
    rule = {"collective": "allgather", "nodes": 1, "use": "ring"}
    rules.write_text(json.dumps({"convene_rules": 1, "rules": [rule]}))
    done = run("mpich4", "exhausted", {"CONVENE_RULES": str(rules)})
    assert done.status == 0, done.output
    assert calls(done) == {("native", "default"): 2}
    assert any("could not create" in text for text in done.profiles[0]["messages"])


def test_a_rules_file_may_have_any_name(tmp_path: Path) -> None:
    rules = tmp_path / "r\udce9gles.json"  # a byte that is no UTF-8
    rules.write_text('{"convene_rules": 1, "rules": [{"collective": "allgather", "use": "ring"}]}')
    done = run("openmpi4", "alternating", {"CONVENE_RULES": str(rules)})
    assert done.status == 0, done.output
    assert sorted(algorithm for algorithm, _ in calls(done)) == ["native", "ring"]


@pytest.mark.parametrize(
    "uses", [("allgather=ring", "allgather=sparbit"), ("allgather=ring", ""), ("", "allgather=ring")]
)
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_ranks_that_disagree_are_told(name: str, uses: tuple[str, str]) -> None:
    asked = {"CONVENE_RANK_0": uses[0], "CONVENE_RANK_1": uses[1]}
    done = run(name, "disagreeing", {"CONVENE_CHECK": "agreement", **asked})
    assert done.status == 2, done.output
    assert "the ranks of a communicator disagree on a call of allgather" in done.output


@pytest.mark.parametrize("name", EVERY_BUILD)
def test_c_api_without_an_mpi_and_between_groups(name: str) -> None:
    stack = present(name)
    done = stack.run(2 if stack.spins else 4, [stack.program("c_api_corners")], preload=False, timeout=60)
    assert done.status == 0, done.output
    assert "0 failures" in done.output
