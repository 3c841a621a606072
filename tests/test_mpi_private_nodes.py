# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that share no files: four private emulated nodes, and a launching machine that is not one of them."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from convene._core import RequestError
from convene.cluster import lifecycle, state
from convene.tune import wisdom_files

from tests.conformance.stacks import ROOT, Stack
from tests.test_mpi_advise import SLOW_OPTIONS, SLOW_VARIABLES
from tests.test_mpi_hierarchy import present
from tests.test_mpi_wisdom import entry, place

pytestmark = pytest.mark.all  # emulated nodes

NODES = 4
CONVENE = str(ROOT / ".venv" / "bin" / "convene")


# MPICH 4.0 does not come out of MPI_Finalize where ranks are on several nodes.
STACKS = ["openmpi4", "openmpi5", "mpich5"]
OTHERS_LONG = [STACKS[0], *(pytest.param(name, marks=pytest.mark.long) for name in STACKS[1:])]


@dataclass(frozen=True)
class Nodes:
    """A cluster, and the working directory of its commands."""

    cluster: state.Cluster
    folder: Path

    def run(self, *words: object) -> "subprocess.CompletedProcess[str]":
        command = [CONVENE, "cluster", "run", "--name", self.cluster.name, *map(str, words)]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=400, check=False
        )

    def convene(self, *words: object, status: int = 0) -> "subprocess.CompletedProcess[str]":
        """Runs `convene` on the launching machine."""
        done = self.run("--", CONVENE, *words)
        assert done.returncode == status, done.stdout + done.stderr
        return done


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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    nodes = up("test-shared", tmp_path_factory.mktemp("work"), False)
    yield nodes
    lifecycle.remove(nodes.cluster)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # With the first one, Open MPI 5 puts all ranks on the first node.
    for variable in ("PRTE_MCA_rmaps_default_mapping_policy", "I_MPI_FABRICS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("CONVENE_WISDOM", "none")


def program(stack: Stack, name: str, *arguments: object, procs: int = NODES) -> list[object]:
    return [stack.launcher, "-n", procs, stack.program(name), *arguments]


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


def known(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    """What a run reports, without times."""
    report = json.loads(done.stdout[done.stdout.index("{") :])
    names = ("collective", "algorithm", "reason", "procs", "nodes", "ranks", "bytes_per_block", "calls")
    rows = [{name: row[name] for name in names} for row in report["rows"]]
    report["hosts"].sort()  # files are read in the order of process numbers
    return {"rows": rows, **{name: report[name] for name in ("ranks", "missing_ranks", "hosts", "messages")}}


@pytest.mark.parametrize("name", STACKS)
def test_run_gives_the_same_as_with_a_shared_directory(name: str, private: Nodes, shared: Nodes) -> None:
    """Profiles and recordings return; rules and wisdom of the launching machine reach the ranks."""
    stack = present(name)
    rules = {"convene_rules": 1, "rules": [{"collective": "allgather", "nodes": NODES, "use": "ring"}]}
    here = place(stack)
    if name == "mpich5":  # the measuring program is linked against MPICH 4
        version = subprocess.check_output([Path(stack.launcher).with_name("mpichversion")], text=True)
        here["mpi"] = f"MPICH {version.split()[2]}"
    learned = entry(here, collective="allgatherv", procs=NODES, nodes=NODES, ranks_per_node=1)
    learned["shares_cores"] = False
    found = []
    for nodes in (shared, private):
        (nodes.folder / "rules.json").write_text(json.dumps(rules))
        (nodes.folder / "wisdom.json").write_text(json.dumps({"convene_wisdom": 1, "entries": [learned]}))
        (nodes.folder / "wisdom.json").chmod(0o644)
        options = ["--rules", "rules.json", "--wisdom", "wisdom.json", "--record", f"recorded-{name}"]
        done = nodes.convene("run", "--json", *options, "--", *program(stack, "allgather_plain"))
        found.append(known(done))
        files = sorted(path.name for path in (nodes.folder / f"recorded-{name}").iterdir())
        assert len(files) == NODES, files
        assert all(file.startswith("recording-") and file.endswith(".bin") for file in files)
    assert found[0] == found[1]
    assert found[1]["ranks"] == NODES
    assert found[1]["hosts"] == [f"n{node}" for node in range(NODES)]
    reasons = {row["collective"]: row["reason"] for row in found[1]["rows"]}
    assert reasons["allgather"] == "rule 1 of rules.json"
    assert reasons["allgatherv"].startswith("wisdom: 0.50 of native")


@pytest.mark.parametrize("name", OTHERS_LONG)
def test_trace_has_all_ranks(name: str, private: Nodes) -> None:
    command = program(present(name), "late", 1, 2, 6)
    done = private.convene("trace", "--json", "--use", "allgather=ring", "--", *command)
    report = json.loads(done.stdout[done.stdout.index("{") :])
    assert report["ranks"] == NODES
    assert not report["messages"]
    site = next(kind for kind in report["sites"] if kind["collective"] == "allgather")
    assert (site["procs"], site["calls"], site["algorithm"]) == (NODES, 6, "ring")


@pytest.mark.parametrize("name", OTHERS_LONG)
def test_what_others_knew_is_kept_when_a_rank_dies(name: str, private: Nodes) -> None:
    """The last rank is killed while the others are in MPI_Finalize."""
    done = private.run("--", CONVENE, "run", "--json", "--", *program(present(name), "dies_within", "late"))
    assert done.returncode not in (0, 124), done.stderr
    report = known(done)
    assert (report["ranks"], report["missing_ranks"]) == (NODES - 1, 1), done.stderr
    assert any("1 of 4 ranks have written no profile" in sentence for sentence in report["messages"])


def launch_options(name: str) -> list[object]:
    """The program for MPICH is linked against MPICH 4: MPICH 5 runs that for the standard ABI."""
    stack = present(name)
    return ["--launcher", stack.launcher, "--stack", "abi" if name == "mpich5" else stack.library, "--json"]


@pytest.mark.parametrize("name", OTHERS_LONG)
def test_measurements_return(name: str, private: Nodes) -> None:
    quick = ["--algorithms", "ring", "--against", "native", "--sizes", "64", "--repetitions", "3"]
    done = private.convene("bench", "run", "allgather", "-n", NODES, *launch_options(name), *quick)
    summary = json.loads(done.stdout)["summary"]
    assert [(row["algorithm"], row["observations"]) for row in summary] == [("native", 3), ("ring", 3)]


@pytest.mark.parametrize("name", OTHERS_LONG)
def test_a_trace_reaches_the_ranks(name: str, private: Nodes) -> None:
    """It is longer than one word of a command line."""
    calls = 100
    lines = [" ".join(f"{rank * 1e-6:.190f}" for rank in range(NODES)) for _ in range(calls)]
    trace = private.folder / "arrivals.txt"
    trace.write_text("\n".join(lines))
    assert 1 << 16 < trace.stat().st_size < 96 * 1024
    quick = ["--algorithms", "", "--against", "native", "--sizes", "64", "--repetitions", calls]
    words = ["bench", "run", "allgather", "-n", NODES, *launch_options(name), *quick]
    done = private.convene(*words, "--arrivals", "trace:arrivals.txt")
    summary = json.loads(done.stdout)["summary"]
    assert {row["arrivals"] for row in summary} == {"none", "trace:arrivals.txt"}


@pytest.mark.parametrize("name", OTHERS_LONG)
def test_advice_is_measured_with_the_arrivals_of_the_program(name: str, private: Nodes) -> None:
    """Broadcasts in small segments: others gain. The rules reach the ranks, too."""
    stack = present("mpich5-abi" if name == "mpich5" else name)
    slow = "mpich5-abi" if stack.is_hydra else "openmpi4"
    smaller = {"MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE": "64"} if stack.is_hydra else {}
    pairs = {**SLOW_VARIABLES[slow], **smaller}.items()
    variables = [word for pair in pairs for word in ("-genv", *pair)]
    words = [*SLOW_OPTIONS[slow], *variables, "-n", NODES, stack.program("advised"), "late", 50, 16384]
    for _ in range(3):  # on a busy machine, a measurement may be too noisy for a gain
        command = ["advise", "--json", "--budget", "8s", "--", stack.launcher, *words]
        found = json.loads(private.convene(*command).stdout)
        first = found["sites"][0]
        if first["result"] == "gain":
            break
    assert (first["result"], first["collective"], first["procs"], first["nodes"]) == ("gain", "bcast", 4, 4)
    methods = [set(ratios) for ratios in first["measured"]["16384"].values()]
    assert methods
    assert all("arrivals" in each for each in methods), first
    assert found["proof"]["calls_by_rules"] >= 50
    assert not found["proof"]["messages"]


@pytest.mark.long
@pytest.mark.parametrize("name", STACKS)
def test_measured_parameters_return(name: str, private: Nodes) -> None:
    short = ["--rounds", 5, "--seconds", 0.2, "--largest", "256"]
    done = private.convene("measure", "-n", 2, *launch_options(name), *short)
    measured = json.loads(done.stdout)
    assert measured["name"] == "n0"
    assert "2 ranks on 2 host(s)" in measured["source"]


def test_without_a_connection_a_sentence_says_so(private: Nodes) -> None:
    """Port 1 refuses connections. The program's end is as without Convene."""
    stack = present("openmpi4")
    given = {
        "LD_PRELOAD": str(stack.preload),
        "CONVENE_PROFILE_DIR": "/tmp/nowhere",
        "CONVENE_RETURN_TO": "0a@10.77.0.5:1",
        "CONVENE_RETURN_TOKEN": "secret",
    }
    options = [word for name, value in given.items() for word in ("-x", f"{name}={value}")]
    launcher, count, number, *words = program(stack, "allgather_plain")
    done = private.run("--", launcher, count, number, *options, *words)
    assert done.returncode == 0, done.stderr
    assert "all right" in done.stdout
    assert done.stderr.count("convene: ") == 1
    assert (
        "convene: results of other nodes are missing: cannot return them to the launching machine: "
        "10.77.0.5:1: Connection refused"
    ) in done.stderr


@pytest.mark.long
def test_what_is_learned_returns(private: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = present("openmpi4")
    library = stack.program("learning").with_name("libslow_allgather.so")
    stack.compile(ROOT / "tests/mpi/libraries/slow_allgather.c", library, "-shared", "-fPIC")
    for variable, value in {"LD_PRELOAD": str(library), "CONVENE_LEARN_BUDGET": "100"}.items():
        monkeypatch.setenv(variable, value)
    slow = ["-x", "SLOW_ALLGATHER=5000"]
    launcher, *rest = program(stack, "learning", 2000, "only", procs=2)
    options = ["run", "--learn", "--wisdom", "made.json"]
    private.convene(*options, "--", launcher, "--map-by", "node", *slow, *rest)
    (learned,) = wisdom_files.read(private.folder / "made.json")
    assert (learned["collective"], learned["procs"], learned["nodes"]) == ("allgather", 2, 2)
    assert learned["upper"] < 1


@pytest.mark.long
@pytest.mark.parametrize("name", STACKS)
def test_tuning_returns(name: str, private: Nodes) -> None:
    """Algorithms in shared memory are left out; what was measured is that of four nodes."""
    words = ["allgather", "-n", NODES, "--sizes", "64,512", "--repetitions", 16, "-o", f"{name}.json"]
    done = private.convene("tune", *words, *launch_options(name))
    found = json.loads(done.stdout)
    assert [(row["procs"], row["bytes"]) for row in found["cells"]] == [(NODES, 64), (NODES, 512)]
    entries = wisdom_files.read(private.folder / f"{name}.json")
    assert len(entries) == len(found["entries"])
    assert all((each["nodes"], each["ranks_per_node"]) == (NODES, 1) for each in entries)
