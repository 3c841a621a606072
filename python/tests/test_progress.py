# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work where stderr is not a terminal."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from convene.base import console, progress
from convene.base.progress import Advance
from convene.simulate import estimates

Convene = Any


def test_lines_of_progress(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.02)
    said, end = "", time.monotonic() + 60
    with progress.shown("measuring", "sizes") as show:
        show(3, 12)
        while "3 of 12" not in said and time.monotonic() < end:
            time.sleep(0.05)
            said += capfd.readouterr().err
    sentence = r"^convene: measuring for \d+ s: 3 of 12 sizes \(25 %\), about "
    assert re.search(sentence, said, re.MULTILINE), said


def test_the_time_left_follows_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = progress.Lines("simulating", "runs")
    monkeypatch.setattr(time, "monotonic", lambda: lines.start + 30)
    lines.advance(3, 4, 0.1)
    assert lines.sentence() == "simulating for 30 s: 3 of 4 runs (10 %), about 4 min left"
    lines.advance(3, 4, 0.001)
    assert lines.sentence() == "simulating for 30 s: 3 of 4 runs (0 %)"


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


def test_an_estimate_comes_first_and_progress_by_cell(
    convene: Convene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell is one algorithm at one size."""
    said: list[str] = []
    done_of_total: list[tuple[float, float]] = []
    parts: list[float] = []

    @contextmanager
    def shown(verb: str, unit: str) -> Iterator[Advance]:
        said.append(f"{verb} {unit}")

        def advance(done: float, total: float, work: float | None = None) -> None:
            if verb == "simulating":
                done_of_total.append((done, total))
                parts.append(work or 0.0)

        yield advance

    monkeypatch.setattr(progress, "shown", shown)
    monkeypatch.setattr(console, "complain", said.append)
    monkeypatch.setattr(estimates, "FEW_STEPS", 0)
    monkeypatch.setattr(estimates, "WORTH_SAYING", 0.0)
    words = ("simulate", "sweep", "allgather", "--platform", "yahoo", "-p", "8,16", "--sizes", "8,1KiB,64KiB")
    result = convene(*words, "--algorithms", "all", "--json").json
    cells = sum(len(size["contenders"]) for run in result["runs"] for size in run["sizes"])
    assert re.fullmatch(rf"simulating {cells // 3} algorithms in {cells} runs takes about \d+ s", said[-2])
    assert said[-1] == "simulating runs"
    assert done_of_total == [(done, cells) for done in range(1, cells + 1)]
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1)
    steps = [after - before for before, after in pairwise([0.0, *parts])]
    assert max(steps) > 3 * min(steps)  # cells differ in their work


def test_a_full_disk_is_named(convene: Convene, tmp_path: Any) -> None:
    path = tmp_path / "sweep.json"
    part = tmp_path / "sweep.json.part"
    part.symlink_to("/dev/full")
    words = ("simulate", "sweep", "allgather", "--platform", "yahoo", "-p", 4, "--sizes", "8", "-o", path)
    assert convene(*words).complaint == f"cannot write {part}: No space left on device"
    assert not path.exists()


def test_nothing_to_resume(convene: Convene, tmp_path: Any) -> None:
    path = tmp_path / "mine.json"
    path.write_text("{}")
    words = ("simulate", "sweep", "allgather", "--platform", "yahoo", "-p", 4, "-o", path, "--resume")
    assert "there is nothing to resume" in convene(*words).complaint
    assert path.read_text() == "{}"
