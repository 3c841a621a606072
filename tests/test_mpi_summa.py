# SPDX-License-Identifier: BSD-3-Clause
"""SUMMA as a program, in C and in Python: C equals the plain product with every partition, native and with
Convene's broadcasts; the study prints prediction, simulation and measurement."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from convene.studies.summa.experiment import MEASURED_PARTITIONS, Partition

from tests.conformance import mpi4py_suite
from tests.conformance.stacks import BUILD, ENVIRONMENT, ROOT, Stack, all_stacks

EXAMPLE = ROOT / "examples" / "summa"
# Two columns, of three and of two processes, with rows that overlap in parts.
SMALL = Partition("Small", [(3, [(4, 2), (0, 4), (1, 1)]), (4, [(2, 4), (3, 3)])], [0] * 5)


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
@pytest.mark.parametrize("use", ["", "bcast=binomial"])
def test_the_product_is_right(name: str, use: str) -> None:
    stack = present(name)
    program = BUILD / "bin" / f"convene-summa-{stack.library}"
    words: list[str | Path] = [program, "--partition", SMALL.text, "--block", "3", "--repetitions", "2"]
    done = stack.run(SMALL.procs, words, {"CONVENE_USE": use} if use else {})
    assert done.status == 0, done.output
    result = json.loads(done.output.splitlines()[-1])
    assert (result["blocks"], result["wrong"], result["checked"]) == (7, 0, True)
    assert len(result["communication"]) == 2
    if use:
        assert done.algorithms("bcast") == {"binomial"}


def test_wrong_partitions_are_refused() -> None:
    stack = present("openmpi4")
    program = BUILD / "bin" / f"convene-summa-{stack.library}"
    for text, sentence in {
        "2: 0 1, 1 2": "heights of a column must add up",
        "2: 0 2; 2: 0 4": "each process needs one rectangle",
        "4: 0 4": "more processes than rectangles",
    }.items():
        done = stack.run(2, [program, "--partition", text], preload=False)
        assert done.status == 2
        assert sentence in done.output


@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_the_python_program(name: str) -> None:
    stack = present(name)
    library, _ = mpi4py_suite.LIBRARIES[name]
    variables = {"CONVENE_USE": "bcast=binomial"} | ({"MPI4PY_LIBMPI": library} if library else {})
    words: list[str | Path] = [sys.executable, EXAMPLE / "summa.py", "--block", "3"]
    words += ["--partition", SMALL.text]
    done = stack.run(SMALL.procs, words, variables)
    if "cannot load MPI library" in done.output or "No module named" in done.output:
        pytest.skip(done.output)
    assert done.status == 0, done.output
    assert json.loads(done.output.splitlines()[-1])["right"] is True


@pytest.mark.long  # ten runs of the program, with more ranks than cores
def test_the_study(tmp_path: Path) -> None:
    output = tmp_path / "summa.json"
    words = ("bench", "study", "summa", "--platform", "metropolis", "--repetitions", "2", "-o", str(output))
    done = subprocess.run(
        [sys.executable, "-m", "convene", *words],
        capture_output=True,
        text=True,
        env={**ENVIRONMENT, **os.environ},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "C equals the plain product with every partition" in done.stdout
    rows = json.loads(output.read_text())["rows"]
    assert [row["partition"] for row in rows] == [each.name for each in MEASURED_PARTITIONS]
    for row in rows:
        assert min(row[name] for name in ("predicted", "simulated", "measured", "native")) > 0
