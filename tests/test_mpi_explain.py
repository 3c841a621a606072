# SPDX-License-Identifier: BSD-3-Clause
"""convene rules explain says what a program under convene run runs, and why."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.stacks import ENVIRONMENT, all_stacks
from tests.test_mpi_wisdom import entry, place

CONVENE = Path(sys.executable).with_name("convene")
ITEM = 4  # bytes

RULES: list[dict[str, Any]] = [
    {"collective": "allgather", "bytes": {"min": 9}, "use": "ring"},
    {"collective": "allgather", "procs": 4, "nodes": 1, "use": "recursive_doubling"},
    {"collective": "allgather", "nodes": {"min": 2}, "use": "bruck"},
    {"collective": "allgatherv", "use": "neighbor_exchange"},
    {"collective": "allgatherv", "bytes": {"max": 6}, "use": "native"},
    {"collective": "allgatherv", "procs": [3, 4], "use": "ring"},
    {"collective": "allreduce", "use": "recursive_doubling"},
]
# Ranks, nodes, rules, forced algorithms.
CASES = [
    (2, 1, [], ""),
    (2, 1, RULES[:3], ""),
    (3, 1, RULES, ""),
    (3, 2, RULES, ""),
    (4, 1, RULES, "allgatherv=sparbit"),
]


def call(*words: object, **variables: str) -> str:
    done = subprocess.run(
        [CONVENE, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        env={**ENVIRONMENT, **os.environ, **variables},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sizes(procs: int) -> dict[str, int]:
    """Bytes of a block in the calls of allgather_plain."""
    return {"allgather": 2 * ITEM, "allgatherv": sum(range(1, procs + 1)) * ITEM // procs, "allreduce": ITEM}


def test_explanations_agree_with_what_runs(tmp_path: Path) -> None:
    stack = all_stacks()["openmpi4"]
    if not stack.is_here():
        pytest.skip("Open MPI 4 is not installed here")
    here = place(stack)
    wisdom, rules, report = (tmp_path / name for name in ("wisdom.json", "rules.json", "report.json"))
    known = [
        entry(here, use="sparbit"),
        entry(here, collective="allgatherv", use="bruck", upper=0.98, ratio=0.9),
        entry(here, collective="allreduce", use="recursive_doubling", bytes=[1, 4]),
        entry(here, collective="allgatherv", use="ring", mpi="Open MPI 0.1", measured="2026-11-27"),
    ]
    wisdom.write_text(json.dumps({"convene_wisdom": 1, "entries": known}))
    wisdom.chmod(0o644)
    reasons = set()
    for procs, nodes, given, uses in CASES:
        rules.write_text(json.dumps({"convene_rules": 1, "rules": given}))
        options = ["--rules", rules, "--wisdom", wisdom, *(("--use", uses) if uses else ())]
        program = (stack.launcher, "-n", procs, stack.program("allgather_plain"))
        mapping = ",".join(str(rank * nodes // procs) for rank in range(procs))
        call("run", *options, "--report", report, "--", *program, CONVENE_MAPPING=mapping)
        rows = json.loads(report.read_text())["rows"]
        ran = {row["collective"]: (row["algorithm"], row["reason"]) for row in rows}
        for collective, size in sizes(procs).items():
            words = ("rules", "explain", collective, "-p", procs, "--nodes", nodes, "--bytes", size)
            said = json.loads(call(*words, *options, "--mpi", here["mpi"], "--json"))
            assert (said["algorithm"], said["reason"]) == ran[collective], (procs, nodes, collective, said)
            reasons.add(said["reason"].split()[0])
    assert reasons == {"default", "forced", "rule", "wisdom:"}
