# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of ranks, put together."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from convene.base.text import bytes_text, seconds_text
from convene.run import pages, profiles, report
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from .conftest import Convene


def record(algorithm: str, bytes_per_block: float, calls: int, seconds: float) -> dict[str, Any]:
    return {
        "collective": "allgather",
        "algorithm": algorithm,
        "reason": "forced",
        "bytes_per_block": bytes_per_block,
        "calls": calls,
        "seconds_total": seconds,
        "seconds_min": seconds / calls / 2,
        "seconds_max": seconds / calls * 2,
    }


def write(directory: Path, rank: int, procs: int, *communicators: tuple[int, list[dict[str, Any]]]) -> Path:
    value = {
        "rank": rank,
        "procs": procs,
        "stack": "mpich",
        "library_version": "MPICH 5",
        "host": f"node{rank // 2}",
        "communicators": [{"procs": size, "nodes": 1, "records": records} for size, records in communicators],
        "messages": ["one", f"of rank {rank}"],
    }
    path = directory / f"profile-{100 + rank}-{rank}.json"
    path.write_text(json.dumps(value))
    return path


def test_calls_count_once_a_communicator(tmp_path: Path) -> None:
    # Four ranks in two communicators of two; each of the two makes 5 calls.
    for rank in range(4):
        write(tmp_path, rank, 4, (2, [record("ring", 8, 5, 0.5 + rank)]))
    found = profiles.read(tmp_path)
    (row,) = found.rows
    assert row.calls == 10
    assert row.seconds_mean == pytest.approx(2.0)
    assert row.seconds_slowest == pytest.approx(3.5)
    assert row.seconds_per_call == pytest.approx(8.0 / 20)
    assert row.longest == pytest.approx(1.4)
    assert (found.ranks, found.procs, found.missing) == (4, 4, 0)
    assert found.messages == ["one", "of rank 0", "of rank 1", "of rank 2", "of rank 3"]
    assert found.hosts == ["node0", "node1"]


def test_rows_are_apart_by_size_and_algorithm(tmp_path: Path) -> None:
    write(
        tmp_path, 0, 1, (1, [record("ring", 8, 1, 1), record("ring", 15.5, 1, 1), record("ring", 16, 1, 1)])
    )
    found = profiles.read(tmp_path)
    assert [row.bytes_per_block for row in found.rows] == [11.75, 16]
    assert not found.is_all_native


def test_profiles_that_are_missing_or_broken(tmp_path: Path) -> None:
    write(tmp_path, 0, 4, (4, [record("native", 8, 1, 1)]))
    write(tmp_path, 1, 4, (4, [record("native", 8, 1, 1)])).write_text('{"rank": 1')
    (tmp_path / "profile-7-2.json.part").write_text("")
    found = profiles.read(tmp_path)
    assert (found.ranks, found.unreadable, found.missing) == (1, 2, 3)
    assert profiles.read(tmp_path / "nowhere").ranks == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    some.recursive(
        some.none() | some.integers() | some.text(max_size=5) | some.floats(),
        lambda inner: (
            some.lists(inner, max_size=3)
            | some.dictionaries(
                some.sampled_from(
                    ["rank", "procs", "nodes", "communicators", "records", "messages", "calls"]
                ),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_whatever_a_file_holds(tmp_path: Path, value: Any) -> None:
    (tmp_path / "profile-1-0.json").write_text(json.dumps(value))
    found = profiles.read(tmp_path)
    assert found.ranks + found.unreadable == 1


def run_of(found: profiles.Profiles) -> report.Run:
    return report.Run(["mpirun", "a <b>"], "allgather=ring", "", "mpich", 0, 1.5, found)


def test_pages_escape_what_they_show(tmp_path: Path) -> None:
    write(tmp_path, 0, 1, (1, [record("<ring>", 8, 1, 1)]))
    page = pages.page(run_of(profiles.read(tmp_path)))
    assert "&lt;ring&gt;" in page
    assert "<ring>" not in page
    assert "a &lt;b&gt;" in page


def test_long_tables_say_what_they_leave_out(tmp_path: Path) -> None:
    records = [record(f"algorithm{number}", 8, 1, 1 + number) for number in range(50)]
    write(tmp_path, 0, 1, (1, records))
    table = report.table(run_of(profiles.read(tmp_path)))
    assert table.row_count == report.MOST_ROWS
    assert "10 rows" in str(table.caption)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.2e-6, "4.2 µs"), (80e-9, "80 ns"), (0.0, "0 ns")],
)
def test_seconds(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0, "0 B"), (8, "8 B"), (12.5, "12.5 B"), (1023, "1023 B"), (4000, "3.91 KiB")),
        *((4096, "4 KiB"), (16000, "15.6 KiB"), (65535, "64.0 KiB"), (16000.4, "15.6 KiB")),
        *((1536 * 1024, "1.5 MiB"), (1 << 20, "1 MiB"), (4_200_000_001, "3.91 GiB")),
    ],
)
def test_bytes(number: float, text: str) -> None:
    assert bytes_text(number) == text


# ------------------------------------------------------------------------------------- without convene run


def test_a_directory_of_profiles_is_reported(convene: Convene, tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path, rank, 3, (3, [record("ring", 8, 5, 0.5)]))
    page = tmp_path / "run.html"
    done = convene("report", tmp_path, "-o", page)
    assert done.status == 0, done.err
    assert re.search(r"allgather +ring +forced", done.out)
    assert "1 of 3 ranks have written no profile" in " ".join(done.out.split())
    text = page.read_text()
    assert "MPICH 5</dd>" in text
    assert "Run time" not in text
    assert "Program</dt>" not in text


def test_several_runs_in_one_directory_are_noticed(convene: Convene, tmp_path: Path) -> None:
    for start in (1000, 2000):
        for rank in range(2):
            path = write(tmp_path, rank, 2, (2, [record("ring", 8, 5, 0.5)]))
            path.rename(tmp_path / f"profile-{start + rank}-{rank}.json")
    assert "2 profiles of rank 0 are added" in " ".join(convene("report", tmp_path).out.split())


def test_wrong_directories_are_refused(convene: Convene, tmp_path: Path) -> None:
    assert "is not the directory of a run (it has no profile-*.json)" in convene("report", tmp_path).complaint
    (tmp_path / "refusal-1.txt").write_text("CONVENE_LOG='x' is not known")
    assert "Convene ended the program: CONVENE_LOG='x'" in convene("report", tmp_path).complaint
    write(tmp_path, 0, 1, (1, [record("ring", 8, 5, 0.5)]))
    assert "one run" in convene("report", tmp_path, tmp_path).complaint
    assert "--metric" in convene("report", tmp_path, "--metric", "max").complaint
    assert ".html" in convene("report", tmp_path, "-o", tmp_path / "x.json").complaint
