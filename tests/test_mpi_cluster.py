# SPDX-License-Identifier: BSD-3-Clause
"""Emulated clusters: real runs over several nodes, where the machine can have them."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from convene._core import RequestError
from convene.cluster import lifecycle, state

from tests.conformance import random_calls
from tests.conformance.stacks import ROOT, Done, Stack, all_stacks, read_profiles
from tests.test_mpi_hierarchy import HIERARCHICAL, REMAPPED, present

pytestmark = pytest.mark.all  # emulated nodes

NODES, SLOTS = 3, 2
CONVENE = str(ROOT / ".venv" / "bin" / "convene")

# MPICH 4.0 does not come out of MPI_Finalize where ranks are on several nodes.
STACKS = [name for name in all_stacks() if name != "mpich4"]


@pytest.fixture(scope="module")
def nodes() -> Iterator[state.Cluster]:
    try:
        made = lifecycle.up(f"test-{os.getpid()}", state.Shape(NODES, SLOTS))
    except RequestError as error:
        pytest.skip(f"no emulated cluster here: {error}")
    yield made
    lifecycle.remove(made)
    assert not made.is_up
    assert not made.folder.exists()


def convene(*words: object) -> "subprocess.CompletedProcess[str]":
    command = [CONVENE, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)


def run_in(where: state.Cluster, *words: object) -> "subprocess.CompletedProcess[str]":
    return convene("cluster", "run", "--name", where.name, "--", *words)


def test_nodes_have_their_own_names_and_memory(nodes: state.Cluster) -> None:
    assert run_in(nodes, "hostname").stdout == "n0\n"
    there = convene(
        "cluster", "run", "--name", nodes.name, "--on", 2, "--", "sh", "-c", "hostname; ls -A /dev/shm"
    )
    assert there.stdout == "n2\n"
    assert run_in(nodes, "sh", "-c", "exit 7").returncode == 7


def run_on_all_nodes(
    stack: Stack,
    nodes: state.Cluster,
    program: Sequence[str | Path],
    variables: dict[str, str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Done:
    """A program of the tests with the drop-in library, its ranks on all slots of all nodes."""
    variables = {**stack.variables, **variables, "CONVENE_PROFILE_DIR": str(folder)}
    variables.pop("I_MPI_FABRICS", None)  # this time there is more than shared memory
    # With this one, Open MPI 5 puts all ranks on the first node.
    for variable in ("I_MPI_FABRICS", "PRTE_MCA_rmaps_default_mapping_policy"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    command = stack.command(NODES * SLOTS, program, stack.preload, list(variables))
    done = run_in(nodes, *command)
    return Done(done.returncode, done.stdout + done.stderr, read_profiles(folder))


@pytest.mark.parametrize("name", STACKS)
def test_ranks_are_on_all_nodes_and_rules_see_them(
    name: str, nodes: state.Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules: list[dict[str, Any]] = [
        {"collective": "allgather", "nodes": {"max": NODES - 1}, "use": "ring"},
        {"collective": "allgather", "nodes": NODES, "ranks_per_node": SLOTS, "use": "bruck"},
        {"collective": "allgatherv", "ranks_per_node": {"min": SLOTS + 1}, "use": "bruck"},
        {"collective": "allgatherv", "nodes": {"min": 2}, "use": "ring"},
    ]
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"convene_rules": 1, "rules": rules}))
    stack, variables = present(name), {"CONVENE_RULES": str(path)}
    done = run_on_all_nodes(
        stack, nodes, [stack.program("allgather_plain")], variables, tmp_path, monkeypatch
    )
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert len(done.profiles) == NODES * SLOTS
    world = [profile["communicators"][0] for profile in done.profiles]
    assert {one["nodes"] for one in world} == {NODES}
    chosen = {(record["collective"], record["algorithm"]) for one in world for record in one["records"]}
    chosen.discard(("allreduce", "native"))  # by which the program sums up its failures
    assert chosen == {("allgather", "bruck"), ("allgatherv", "ring")}


@pytest.mark.sampled(all=5)
@pytest.mark.parametrize("uses", [HIERARCHICAL, REMAPPED], ids=["hier", "remap"])
@pytest.mark.parametrize("name", STACKS)
def test_hierarchies_over_the_nodes(
    name: str, uses: tuple[str, ...], nodes: state.Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random calls, compared with what the MPI itself says; the nodes are those that the MPI finds."""
    stack = present(name)
    # Between nodes, gather and scatter of Open MPI 5.0 by "han" have given wrong data (its issues 11545,
    # 12383 and 12438), and do so here with derived datatypes: nothing to compare with.
    variables = {"CONVENE_USE": ",".join(uses), "OMPI_MCA_coll": "^han"}
    options = ["--interposed", "--calls", "100", "--seed", "7"]
    program: list[str | Path] = [random_calls.program_of(stack), *options]
    done = run_on_all_nodes(stack, nodes, program, variables, tmp_path, monkeypatch)
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert {profile["communicators"][0]["nodes"] for profile in done.profiles} == {NODES}
    for use in uses:
        collective, algorithm = use.split("=", 1)
        assert algorithm in done.algorithms(collective)


@pytest.mark.parametrize(
    ("name", "provider"), [("openmpi4", "tcp"), ("openmpi5", "tcp"), ("mpich5", "tcp"), ("openmpi4", "shm")]
)
def test_messages_over_a_fabric(
    name: str, provider: str, nodes: state.Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = present(name)
    use = "allgather=sparbit,alltoall=bruck,bcast=scatter_allgather,barrier=dissemination"
    variables = {"CONVENE_TRANSPORT": f"fabric:{provider}", "CONVENE_USE": use, "CONVENE_LOG": "info"}
    options = ["--interposed", "--calls", "100", "--seed", "9"]
    program: list[str | Path] = [random_calls.program_of(stack), *options]
    done = run_on_all_nodes(
        stack, nodes, program, variables | {"OMPI_MCA_coll": "^han"}, tmp_path, monkeypatch
    )
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert ("messages travel over libfabric" in done.output) == (provider == "tcp")
    assert ("messages are those of the MPI, not of a fabric" in done.output) == (provider == "shm")


def test_down_ends_what_runs_in_it_and_nothing_else() -> None:
    name = f"test-down-{os.getpid()}"
    made = convene("cluster", "up", "--nodes", 2, "--name", name)
    if made.returncode == 2:
        pytest.skip(f"no emulated cluster here: {made.stderr.strip()}")
    try:
        assert convene("cluster", "up", "--nodes", 2, "--name", name).returncode == 2
        outside = subprocess.Popen(["sleep", "900"])
        command = [CONVENE, "cluster", "run", "--name", name, "--", "sleep", "900"]
        inside = subprocess.Popen(command)
        while programs(name) < 1:
            time.sleep(0.05)
        assert convene("cluster", "down", "--name", name).returncode == 0
        assert inside.wait(120) != 0
        assert outside.poll() is None
        assert programs(name) == -1
    finally:
        outside.kill()
        outside.wait()
        convene("cluster", "down", "--name", name)


def programs(name: str) -> int:
    """How many run in a cluster; -1 where there is none of that name."""
    known = json.loads(convene("cluster", "status", "--json").stdout)
    return next((one["processes"] for one in known if one["name"] == name), -1)


def test_a_command_that_is_ended_leaves_nothing_in_the_cluster(nodes: state.Cluster) -> None:
    command = [CONVENE, "cluster", "run", "--name", nodes.name, "--", "sleep", "900"]
    running = subprocess.Popen(command)
    while programs(nodes.name) < 1:
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    running.wait(120)
    end = time.monotonic() + 120
    while programs(nodes.name) > 0 and time.monotonic() < end:
        time.sleep(0.05)
    assert programs(nodes.name) == 0


def test_a_delay_delays() -> None:
    """Of times only this cannot be otherwise: no message is there sooner than the link lets it."""
    receive = "import socket; s = socket.create_server(('', 5000)); c, _ = s.accept(); c.sendall(c.recv(9))"
    send = """
import socket, time
while True:
    try:
        link = socket.create_connection(("n3", 5000))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
before = time.monotonic()
link.sendall(b"there")
assert link.recv(9) == b"there"
print(time.monotonic() - before)
"""
    shape = state.Shape(4, delay=2e-3, groups=2, group_delay=3e-3)
    try:
        made = lifecycle.up(f"test-delay-{os.getpid()}", shape)
    except RequestError as error:
        pytest.skip(f"no emulated cluster here: {error}")
    try:
        words = [CONVENE, "cluster", "run", "--name", made.name, "--on", "3", "--", "python3", "-c", receive]
        server = subprocess.Popen(words)
        done = run_in(made, "python3", "-c", send)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) >= 2 * 5e-3
        assert server.wait(120) == 0
    finally:
        lifecycle.remove(made)
