# SPDX-License-Identifier: BSD-3-Clause
"""convene cluster: what it says where it cannot do what is asked. (tests/test_mpi_cluster.py runs some.)"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from convene.cluster import rates, state, tools

Convene = Any


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "RUNS", tmp_path / "clusters")


def test_only_root_may(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert "needs root" in convene("cluster", "up", "--nodes", 2).complaint
    assert "needs root" in convene("cluster", "up", "--nodes", 2, "--private").complaint
    assert not state.RUNS.exists()


def test_the_status_fits(convene: Convene, check_tables: Any) -> None:
    assert convene("cluster", "status").out == "no cluster is up\n"
    shape = state.Shape(16, 4, 200e6, 500e-6, 4, 1e-3)
    for name in ("default", "a-cluster-with-a-rather-long-name"):
        (state.RUNS / name).mkdir(parents=True)
        state.Cluster(name, shape).save()
    essential = ("name", "nodes", "slots", "programs", "links", "state", "200", "ended;")
    check_tables(lambda: convene("cluster", "status").out, *essential)


def test_a_tool_that_is_missing_is_named(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "tc" else f"/bin/{name}")
    assert convene("cluster", "up", "--nodes", 2).complaint == (
        "emulated clusters need the program tc; install iproute2"
    )


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Error: Unknown device type.", "modules veth and bridge"),
        ("Error: Specified qdisc kind is unknown.", "sch_tbf"),
        ("unshare: unshare failed: Operation not permitted", "privileges"),
        ("entering /proc: gone", "entering /proc: gone"),
    ],
)
def test_what_the_kernel_lacks_is_said(said: str, advice: str) -> None:
    sentence = tools.explain("making a bridge", said)
    assert sentence.startswith("making a bridge failed: ")
    assert advice in sentence


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("up", "--nodes", 2, "--rate", "fast"), "--rate 'fast'"),
        (("up", "--nodes", 2, "--delay", "soon"), "'soon' for --delay"),
        (("up", "--nodes", 2, "--groups", 3), "try fewer groups"),
        (("up", "--nodes", 4, "--groups", 2), "are used together"),
        (("up", "--nodes", 2, "--name", "../x"), "--name '../x'"),
        (("up", "--nodes", 1000), "--nodes"),
        (("run", "--", "true"), "convene cluster up"),
        (("run", "--name", "racks", "--", "true"), "convene cluster up --name racks"),
        (("run", "--delay", "1ms", "--", "true"), "add --nodes"),
        (("run", "--private", "--", "true"), "add --nodes"),
        (("down", "--name", "racks"), "there is no cluster 'racks'"),
        (("down", "--name", "racks", "--all"), "contradict each other"),
    ],
)
def test_wrong_requests(convene: Convene, words: tuple[object, ...], part: str) -> None:
    assert part in convene("cluster", *words).complaint
    assert not state.RUNS.exists()


def test_without_a_cluster_there_is_nothing_to_do(convene: Convene) -> None:
    assert convene("cluster", "status").out == "no cluster is up\n"
    assert convene("cluster", "status", "--json").json == []
    done = convene("cluster", "down")
    assert done.status == 0
    assert "there is no cluster" in done.err


def test_one_whose_machine_was_restarted_is_cleared_away(convene: Convene) -> None:
    left = state.Cluster("default", state.Shape(2), first=os.getpid(), started=1, nodes=[7, 12])
    left.folder.mkdir(parents=True)
    left.save()
    assert not left.is_up  # this test's own process has that number now
    assert convene("cluster", "status", "--json").json[0]["up"] is False
    assert convene("cluster", "down").status == 0
    assert not left.folder.exists()


def test_rates() -> None:
    assert rates.parse_rate("200mbit") == 2e8
    assert rates.parse_rate("1.5Gbit/s") == 1.5e9
