# SPDX-License-Identifier: BSD-3-Clause
"""convene advise on real programs, as a user sees it."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from convene import _core

from tests.conformance.stacks import ENVIRONMENT, ROOT, Stack, all_stacks

CONVENE = str(ROOT / ".venv" / "bin" / "convene")
STACKS = ["openmpi4", pytest.param("mpich5-abi", marks=pytest.mark.all)]

# Native broadcasts in small segments, one after the other: programs that gain by another algorithm.
SLOW_SEGMENTS = (
    "--mca",
    "coll_tuned_bcast_algorithm",
    "3",
    "--mca",
    "coll_tuned_bcast_algorithm_segmentsize",
    "64",
)
SLOW_OPTIONS = {
    "openmpi4": ["--mca", "coll_tuned_use_dynamic_rules", "1", *SLOW_SEGMENTS],
    "mpich5-abi": [],
}
SLOW_VARIABLES = {
    "openmpi4": {},
    "mpich5-abi": {
        "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "pipelined_tree",
        "MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE": "256",
    },
}


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def advise(
    stack: Stack, folder: Path, options: list[str], *words: str, **variables: str
) -> "subprocess.CompletedProcess[str]":
    environment = {**ENVIRONMENT, **os.environ, **stack.variables, **variables, "COLUMNS": "100"}
    return subprocess.run(
        [CONVENE, "advise", *options, "--", stack.launcher, *words],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


@pytest.mark.parametrize("name", STACKS)
def test_a_call_that_dominates(name: str, tmp_path: Path) -> None:
    stack = present(name)
    program = [*SLOW_OPTIONS[name], "-n", "2", str(stack.program("advised")), "dominated", "200", "16384"]
    for _ in range(3):  # on a busy machine, a measurement may be too noisy for a gain
        done = advise(stack, tmp_path, ["--json", "--budget", "10s"], *program, **SLOW_VARIABLES[name])
        assert done.returncode == 0, done.stderr
        assert "all right" in done.stderr  # the program's output, once
        found = json.loads(done.stdout)
        if (found["sites"][0]["collective"], found["sites"][0]["result"]) == ("bcast", "gain"):
            break
    first = found["sites"][0]
    assert (first["collective"], first["procs"], first["bytes"]) == ("bcast", 2, [16384, 16384])
    assert "advised" in first["site"]
    assert first["calls"] == 200
    assert first["communicating_share"] == max(each["communicating_share"] for each in found["sites"])
    assert first["result"] == "gain", first
    assert first["saves_predicted"] > 0
    path = tmp_path / "advise.rules"
    _core.rules(str(path))
    assert json.loads(path.read_text())["rules"][0]["use"] == first["use"]
    assert found["proof"]["native_seconds"]
    assert found["proof"]["calls_by_rules"] >= 200  # the rules decided in the second run
    assert not found["proof"]["messages"]


@pytest.mark.parametrize("name", STACKS)
def test_load_imbalance_is_no_matter_of_algorithms(name: str, tmp_path: Path) -> None:
    stack = present(name)
    program = ["-n", "2", str(stack.program("advised")), "imbalanced", "50", "64"]
    for _ in range(3):  # on a busy machine, calls take as long as other programs keep the cores
        done = advise(stack, tmp_path, ["--budget", "20s"], *program)
        assert done.returncode == 0, done.stderr
        assert "all right" in done.stdout
        row = next(line for line in done.stdout.splitlines() if "allgather" in line)
        if "load imbalance:" in row:
            break
        (tmp_path / "advise.rules").unlink(missing_ok=True)
    assert "load imbalance:" in row, done.stdout
    assert "nothing to gain by algorithms: ranks wait for late ones" in done.stdout.replace("\n  ", " ")
    assert not (tmp_path / "advise.rules").exists()


@pytest.mark.parametrize("name", ["openmpi4", "mpich5-abi"])
def test_a_program_without_collectives(name: str, tmp_path: Path) -> None:
    stack = present(name)
    done = advise(stack, tmp_path, [], "-n", "2", str(stack.program("advised")), "none")
    assert done.returncode == 0, done.stderr
    assert "there is nothing to advise" in done.stderr.replace("\n  ", " ")
    failed = advise(stack, tmp_path, [], "-n", "2", "false")
    assert failed.returncode == 1
    assert "the program ended with status 1" in failed.stderr.replace("\n  ", " ")
