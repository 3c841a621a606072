# SPDX-License-Identifier: BSD-3-Clause
"""convene measure, with a program that has measured before."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from convene.base import paths
from convene.model.platform_types import Observed

from .known_machine import Machine

Convene = Any
MakeLauncher = Callable[[str], Any]

OPEN_MPI = "mpirun (Open MPI) 5.0.11"

PROGRAM = """#!{python}
import os, shutil, sys

if os.environ["RANK"] == "0":
    print("progress 1 2")
    shutil.copy({raw!r}, sys.argv[sys.argv.index("--output") + 1])
if {said!r}:
    print({said!r}, file=sys.stderr)
sys.exit({status})
"""


@pytest.fixture
def make_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a program that has measured before where the command looks for it."""

    def make(raw: Observed | None = None, status: int = 0, said: str = "") -> None:
        file = tmp_path / "raw.json"
        file.write_text(json.dumps(raw or Machine(noise=0.05).raw()))
        for tool in ("bench", "run", "measure"):
            program = tmp_path / f"convene-{tool}-openmpi"
            program.write_text(PROGRAM.format(python=sys.executable, raw=str(file), status=status, said=said))
            program.chmod(0o755)
        monkeypatch.setattr(paths, "PROGRAMS", (tmp_path,))

    return make


def test_a_table_a_file_and_pictures(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None], tmp_path: Path
) -> None:
    make_program()
    launcher, output, plots = make_launcher(OPEN_MPI), tmp_path / "here.json", tmp_path / "plots"
    plots.mkdir()
    done = convene(
        *("measure", "-n", 2, "--launcher", launcher, "-o", output, "--plots", plots, "--quick"),
        *("--raw", tmp_path / "all.json"),
    )
    assert done.status == 0, done
    assert "here: Some CPU, Some MPI 1.0" in done.out
    assert "memory: a sender waits for its receiver from 4.39 KiB on" in done.out
    assert "between 4 KiB and 4.5 KiB a round_trip jumps" in done.out
    lines = [line.split() for line in done.out.splitlines()]
    assert next(line for line in lines if line[:1] == ["G"])[2:4] >= ["0"]
    assert json.loads(output.read_text())["name"] == "here"
    assert json.loads((tmp_path / "all.json").read_text())["procs"] == 2
    assert {path.name for path in plots.iterdir()} >= {"memory-messages.svg", "memory-transfers.svg"}
    words = launcher.received["arguments"]
    assert words[words.index("--largest") + 1] == str(1 << 20)
    assert done.err == ""


def test_too_many_ranks_are_said(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    raw = Machine().raw()
    raw["environment"]["cores"] = 1
    make_program(raw)
    done = convene("measure", "-n", 2, "--launcher", make_launcher(OPEN_MPI), "--json")
    assert done.status == 0
    assert done.json["measured"]["ranks"] == 2
    assert "2 ranks shared 1 cores" in done.err


def test_what_the_program_says(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program(status=1, said="convene-measure: MPI_Send failed")
    done = convene("measure", "-n", 2, "--launcher", make_launcher(OPEN_MPI))
    assert (done.status, done.err) == (1, "convene: MPI_Send failed\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-n", 1], "-n 1 is out of range; give 2 to 4096 ranks"),
        (["-n", 2, "-o", "here.txt"], "-o here.txt must end in .json"),
        (
            ["-n", 2, "--plots", "/no/such"],
            "cannot create the directory --plots /no/such: No such file or directory",
        ),
        (["-n", 2, "--fit-to", ""], "--fit-to is empty; give a value, as in --fit-to bcast=binomial"),
        (["-n", 2, "--fit-to", ","], "--fit-to is empty"),
        (["-n", 2, "--name", ""], "--name is empty"),
        (["-n", 2, "--fit-to", "binomial"], "invalid --fit-to 'binomial'; give COLLECTIVE=ALGORITHM"),
        (
            ["-n", 3, "--fit-to", "allgather=recursive_doubling"],
            "needs a number of processes that is a power",
        ),
        (["-n", 2, "--largest", "8"], "--largest 8 is out of range; give 64 bytes to 1 GiB"),
    ],
)
def test_wrong_requests(convene: Convene, words: list[Any], sentence: str) -> None:
    assert sentence in convene("measure", *words).complaint
