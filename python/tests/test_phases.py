# SPDX-License-Identifier: BSD-3-Clause
"""What ranks wrote down of forecasts and of progress in the background."""

import json
from pathlib import Path
from typing import Any

import pytest
from convene.run import profiles, report


def tally(**changes: Any) -> dict[str, Any]:
    return {
        "collective": "allgather",
        "algorithm": "bdr",
        "runs": 10,
        "phases": 10,
        "forecasts": 8,
        "phase_seconds": 2.0,
        "error_seconds": 0.04,
        "messages": 100,
        "early_messages": 25,
    } | changes


def write(directory: Path, rank: int, phases: list[dict[str, Any]], usage: dict[str, Any] | None) -> None:
    value = {
        "rank": rank,
        "procs": 2,
        "library_version": "MPICH 5",
        "host": "node0",
        "communicators": [{"procs": 2, "nodes": 1, "records": [], "phases": phases}],
        "messages": [],
    }
    if usage:
        value["progress_thread"] = usage
    (directory / f"profile-{rank}-{rank}.json").write_text(json.dumps(value))


def run_of(directory: Path) -> report.Run:
    return report.Run(["mpirun", "a"], "", "", "mpich", 0, 2.0, profiles.read(directory))


def test_forecasts_of_all_ranks_are_put_together(tmp_path: Path) -> None:
    usage = {"ran": True, "cpu_seconds": 0.01, "polls": 7}
    write(tmp_path, 0, [tally()], usage)
    write(
        tmp_path,
        1,
        [tally(error_seconds=0.12), tally(algorithm="bslb", forecasts=0, error_seconds=0.0, messages=0)],
        usage,
    )
    run = run_of(tmp_path)
    bdr, bslb = run.profiles.phases
    assert (bdr.runs, bdr.forecasts) == (20, 16)
    assert bdr.error_per_forecast == pytest.approx(0.01)
    assert bdr.seconds_per_phase == pytest.approx(0.2)
    assert bslb.error_per_forecast == 0
    said = report.forecast_sentences(run)
    assert "in the mean wrong by 10 ms of 200 ms" in said[0]
    assert "25 % of all messages" in said[0]
    assert "wrong" not in said[1]
    assert "a thread in 2 ranks used 10 ms" in said[2]
    assert "0.5 % of the run" in said[2]
    assert run.as_json()["progress_thread"] == {"ranks": 2, "ran": 2, "cpu_seconds": pytest.approx(0.02)}
    (first, *_) = run.profiles.phases
    assert first.as_json()["early_messages"] == 50


def test_without_phases_nothing_is_said(tmp_path: Path) -> None:
    write(tmp_path, 0, [], None)
    run = run_of(tmp_path)
    assert report.forecast_sentences(run) == []
    assert run.as_json()["progress_thread"] is None


def test_a_thread_that_could_not_run_is_not_counted(tmp_path: Path) -> None:
    write(tmp_path, 0, [], {"ran": False, "cpu_seconds": 0.0, "polls": 0})
    run = run_of(tmp_path)
    assert report.forecast_sentences(run) == []
    assert run.profiles.background.as_json()["ran"] == 0
