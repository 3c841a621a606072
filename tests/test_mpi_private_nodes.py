# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that share no files: four private emulated nodes, and a launching machine that is not one of them."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from convene._core import RequestError
from convene.cluster import lifecycle, state

from tests.conformance.stacks import ROOT

pytestmark = pytest.mark.all  # emulated nodes

NODES = 4
CONVENE = str(ROOT / ".venv" / "bin" / "convene")


@dataclass(frozen=True)
class Nodes:
    """A cluster, and the working directory of its commands."""

    cluster: state.Cluster
    folder: Path

    def run(self, *words: object) -> "subprocess.CompletedProcess[str]":
        command = [CONVENE, "cluster", "run", "--name", self.cluster.name, *map(str, words)]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
        )


def up(name: str, folder: Path, private: bool) -> Nodes:
    try:
        made = lifecycle.up(f"{name}-{os.getpid()}", state.Shape(NODES, private=private))
    except RequestError as error:
        pytest.skip(f"no emulated cluster here: {error}")
    return Nodes(made, folder)


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    nodes = up("test-private", tmp_path_factory.mktemp("work"), True)
    yield nodes
    lifecycle.remove(nodes.cluster)
    assert not nodes.cluster.folder.exists()


def test_each_node_has_its_own_files(private: Nodes) -> None:
    (private.folder / "here").touch()
    home = Path.home()
    write = 'touch mine "$HOME/own-$(hostname)" "/tmp/own-$(hostname)"; ls -A . "$HOME" /tmp'
    written = private.run("--on", 1, "--", "sh", "-c", write).stdout
    assert "mine" in written
    assert "own-n1" in written
    assert "here" not in written
    other = private.run("--on", 2, "--", "sh", "-c", 'hostname; ls -A . "$HOME" /tmp')
    assert other.stdout.startswith("n2\n"), other.stderr
    assert "mine" not in other.stdout
    assert "own-n1" not in other.stdout
    launching = private.run("--", "sh", "-c", "hostname; ls")
    assert launching.stdout == "launch\nhere\n"
    assert not (home / "own-n1").exists()
    assert not Path("/tmp/own-n1").exists()


def test_what_convene_needs_stays_visible_and_the_rest_does_not() -> None:
    """The working directory is the checkout here."""
    nodes = up("test-private-checkout", ROOT, True)
    try:
        shown = nodes.run("--on", 0, "--", "sh", "-c", "ls -d python/convene/cluster .venv/bin README.md")
    finally:
        lifecycle.remove(nodes.cluster)
    assert shown.stdout == ".venv/bin\npython/convene/cluster\n"
    assert "README.md" in shown.stderr


def test_a_system_directory_cannot_be_private(private: Nodes) -> None:
    done = Nodes(private.cluster, Path("/usr")).run("--", "true")
    assert done.returncode == 2
    assert "the directory /usr cannot be private to a node" in " ".join(done.stderr.split())
