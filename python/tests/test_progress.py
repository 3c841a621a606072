# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work where stderr is not a terminal."""

import time
from typing import Any

import pytest
from convene.base import progress

Convene = Any


def test_lines_of_progress(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.02)
    with progress.shown("measuring", "sizes") as show:
        show(3, 12)
        time.sleep(0.2)
    lines = capfd.readouterr().err.splitlines()
    assert lines
    assert "convene: measuring for 0 s: 3 of 12 sizes (25 %), about " in lines[0]


def test_short_work_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.shown("measuring", "sizes") as show:
        show(1, 1)
    assert capfd.readouterr().err == ""


def test_a_sweep_over_numbers_of_ranks(convene: Convene, tmp_path: Any) -> None:
    words = ("simulate", "sweep", "allgather", "--platform", "yahoo", "--algorithms", "ring", "--sizes", "8")
    done = convene(*words, "-p", "4,8", "-o", tmp_path / "sweep.json")
    assert done.status == 0, done
    assert "allgather, 4 ranks on" in done.out
    assert "allgather, 8 ranks on" in done.out
    found = convene(*words, "-p", "4,8", "--json").json
    assert [run["procs"] for run in found["runs"]] == [4, 8]
    alone = convene(*words, "-p", 8, "--json").json
    assert found["runs"][1]["sizes"] == alone["sizes"]
    assert "on 4 and 8 ranks" in convene("report", tmp_path / "sweep.json").out


def test_nothing_to_resume(convene: Convene, tmp_path: Any) -> None:
    path = tmp_path / "mine.json"
    path.write_text("{}")
    words = ("simulate", "sweep", "allgather", "--platform", "yahoo", "-p", 4, "-o", path, "--resume")
    assert "there is nothing to resume" in convene(*words).complaint
    assert path.read_text() == "{}"
