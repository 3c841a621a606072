# SPDX-License-Identifier: BSD-3-Clause
"""Recordings that are put together, and convene trace on files that stand in for a program's."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convene import _core
from convene._core import RequestError
from convene.trace import call_sites, lateness, pictures, recordings
from convene.trace.lines import Line, ways
from convene.trace.recordings import ROW, Site

Convene = Any

SECOND = 1_000_000_000
HERE, THERE = 11, 22  # clocks


def write(
    folder: Path,
    rank: int,
    arrivals: list[float],
    exits: list[float | None],
    *,
    procs: int = 3,
    clock: int = HERE,
    line: dict[str, Any] | None = None,
    first: int = 0,
    collective: str = "allgather",
    name: tuple[int, ...] = (0, 99, 0),
    members: list[int] | None = None,
    **more: Any,
) -> Path:
    """A rank's file with one communicator, times in seconds of its own clock."""
    rows = np.zeros(len(arrivals), ROW)
    rows["arrival"] = [round(each * SECOND) for each in arrivals]
    rows["exit"] = [-1 if each is None else round(each * SECOND) for each in exits]
    rows["bytes"] = 64
    members = list(range(procs)) if members is None else members
    site = {"address": 5, "object": "app", "offset": 4, "collective": collective, "root": 0, "blocking": True}
    same: dict[str, Any] = {"at": 0, "offset": 0, "drift": 0, "error": 0, "same": True}
    head = {
        "convene_recording": 2,
        "rank": rank,
        "procs": procs,
        "host": f"host{clock}",
        "program": "/somewhere/app",
        "stack": "openmpi",
        "little_endian": True,
        "clock_domain": clock,
        "communicators": [
            {
                "name": name,
                "operation": -1,
                "members": members,
                "rank": members.index(rank),
                "first": first,
                "calls": len(arrivals),
                "clock": line or same,
                "sites": [{**site, "calls": len(arrivals)}],
                "algorithms": [["ring", "forced"]],
            }
        ],
        **more,
    }
    path = folder / f"recording-{1000 + rank}-{rank}.bin"
    path.write_bytes(json.dumps(head).encode() + b"\n" + rows.tobytes())
    return path


def write_all(folder: Path, late: float = 0.5, calls: int = 4) -> None:
    """Rank 2 comes `late` seconds after the others to every call, which then takes 0.1 seconds."""
    for rank in range(3):
        arrivals = [10.0 + call + (late if rank == 2 else 0.0) for call in range(calls)]
        write(folder, rank, arrivals, [10.0 + call + late + 0.1 for call in range(calls)])


def test_who_was_late_and_what_it_cost(tmp_path: Path) -> None:
    write_all(tmp_path)
    summary = lateness.summarize(recordings.read(tmp_path))
    (calls,) = summary.kinds
    assert len(calls) == 4
    assert calls.imbalance == pytest.approx([0.5] * 4)
    assert calls.often_last == (2, 1.0)
    assert calls.waiting == pytest.approx(np.array([[0.5, 0.5, 0.0]] * 4))
    assert [row.last for row in summary.ranks] == [0, 0, 4]
    assert [row.cost for row in summary.ranks] == pytest.approx([0, 0, 4.0])
    assert [row.inside for row in summary.ranks] == pytest.approx([2.4, 2.4, 0.4])
    assert summary.waiting == pytest.approx(4.0)
    assert calls.kind.algorithm == "ring"
    assert np.isnan(calls.gain).all()  # never balanced: the time of a balanced call is unknown


def test_gain_is_the_absorption_against_the_most_balanced_calls(tmp_path: Path) -> None:
    calls = 16
    late = [0.0 if call < 8 else 0.4 for call in range(calls)]
    for rank in range(3):
        arrivals = [call + (late[call] if rank == 1 else 0.0) for call in range(calls)]
        # A balanced call takes 0.3 s; of 0.4 s of lateness half makes it longer.
        write(tmp_path, rank, arrivals, [call + 0.3 + late[call] / 2 for call in range(calls)])
    (found,) = lateness.summarize(recordings.read(tmp_path)).kinds
    assert found.balanced_run_time == pytest.approx(0.3)
    assert found.gain == pytest.approx([0.0] * 8 + [0.2] * 8)
    assert found.gain[-1] == pytest.approx(_core.absorption(0.3, float(found.run_time[-1]), 0.4))


def test_a_root_that_leaves_early_has_not_waited(tmp_path: Path) -> None:
    write(tmp_path, 0, [1.0], [1.1], procs=2, collective="bcast")
    write(tmp_path, 1, [2.0], [2.1], procs=2, collective="bcast")
    (calls,) = lateness.summarize(recordings.read(tmp_path)).kinds
    assert calls.waiting == pytest.approx(np.array([[0.1, 0.0]]))


@pytest.mark.parametrize("drift", [0.0, 50e-6, -2e-4])
def test_clocks_of_other_nodes_are_taken_to_the_first(tmp_path: Path, drift: float) -> None:
    def there(time: float) -> float:  # what rank 1's clock shows: ahead by 7 s at 100 s, and drifting
        return (time - 100 * drift + 7) / (1 - drift) if drift else time + 7

    line = {"at": there(100) * SECOND, "offset": (there(100) - 100) * SECOND, "drift": drift, "error": 5e3}
    times = [100.0, 200.0, 300.0]
    write(tmp_path, 0, times, [time + 1 for time in times], procs=2)
    write(
        tmp_path,
        1,
        [there(time + 0.25) for time in times],
        [there(time + 1) for time in times],
        procs=2,
        clock=THERE,
        line=line,
    )
    recording = recordings.read(tmp_path)
    (communicator,) = recording.communicators
    assert communicator.arrivals[:, 1] - communicator.arrivals[:, 0] == pytest.approx([0.25] * 3, abs=1e-6)
    assert recording.error == pytest.approx(5e-6)
    assert recording.hosts == {0: "host11", 1: "host22"}


def test_lines_go_both_ways() -> None:
    line = Line(at=5e9, offset=-3e9, drift=1e-4, error=7)
    times = np.array([0.0, 5e9, 9e12])
    assert line.inverse().apply(line.apply(times)) == pytest.approx(times, rel=1e-12, abs=1)
    found = ways([(2, 1, Line(offset=10)), (3, 2, Line(offset=100))], 1)
    assert [line.offset for line in found[3]] == [100, 10]
    backwards = ways([(1, 2, Line(offset=10))], 1)
    assert [line.offset for line in backwards[2]] == [-10]
    assert 9 not in found


def test_clocks_that_were_never_compared_are_said(tmp_path: Path) -> None:
    write(tmp_path, 0, [1.0], [2.0], procs=2)
    path = write(tmp_path, 1, [1.0], [2.0], procs=2, clock=THERE)
    head, _, rest = path.read_bytes().partition(b"\n")
    value = json.loads(head)
    value["communicators"][0]["clock"] = None
    path.write_bytes(json.dumps(value).encode() + b"\n" + rest)
    recording = recordings.read(tmp_path)
    assert recording.calls == 0
    assert any("members were not synchronised" in said for said in recording.messages)


def test_only_calls_that_all_have_are_compared(tmp_path: Path) -> None:
    write(tmp_path, 0, [3.0, 4.0, 5.0], [3.1, 4.1, 5.1], procs=2, first=2)
    write(tmp_path, 1, [4.2, 5.2], [4.3, None], procs=2, first=3)
    recording = recordings.read(tmp_path)
    (communicator,) = recording.communicators
    assert communicator.first == 3
    assert communicator.arrivals[:, 1] - communicator.arrivals[:, 0] == pytest.approx([0.2, 0.2])
    assert np.isnan(communicator.exits[1, 1])
    assert recording.lost == 3  # of 5 that were made
    assert any("3 calls are lost" in said for said in recording.messages)
    (calls,) = lateness.summarize(recording).kinds
    assert np.isnan(calls.run_time[1])
    assert calls.waiting[1] == pytest.approx([0.1, 0.0])


def test_different_collectives_do_not_match(tmp_path: Path) -> None:
    write(tmp_path, 0, [1.0], [2.0], procs=2)
    write(tmp_path, 1, [1.0], [2.0], procs=2, collective="bcast")
    recording = recordings.read(tmp_path)
    assert recording.calls == 0
    assert any("not all of their members recorded the same calls" in said for said in recording.messages)
    assert recording.lost == 1
    assert not any("keeps the latest" in said for said in recording.messages)


def test_a_rank_that_left_nothing_is_said(tmp_path: Path) -> None:
    write(tmp_path, 0, [1.0], [2.0], procs=2)
    recording = recordings.read(tmp_path)
    assert recording.ranks == 1
    assert any("1 of 2 ranks wrote no recording" in said for said in recording.messages)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-5],
        lambda data: b"",
        lambda data: b"\x00\xff" * 50,
        lambda data: data.replace(b'"convene_recording": 2', b'"convene_recording": 1'),
        lambda data: data.replace(b'"little_endian": true', b'"little_endian": false'),
        lambda data: data.replace(b'"members": [0, 1, 2]', b'"members": null'),
    ],
)
def test_a_broken_file_is_named(convene: Convene, tmp_path: Path, spoil: Any) -> None:
    write_all(tmp_path)
    path = tmp_path / "recording-1001-1.bin"
    path.write_bytes(spoil(path.read_bytes()))
    done = convene("trace", tmp_path)
    assert done.status == 2
    assert "recording-1001-1.bin is incomplete, or of another version of Convene" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_two_runs_in_one_directory(tmp_path: Path) -> None:
    write_all(tmp_path)
    path = tmp_path / "recording-1000-0.bin"
    (tmp_path / "recording-7-0.bin").write_bytes(path.read_bytes())
    with pytest.raises(RequestError, match="contains several recordings of rank 0"):
        recordings.read(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "neither a directory with a recording nor a program"),
        (["."], "contains no recording"),
        (["--export", "t.txt", "."], "--export t.txt must end in .json"),
        (["--picture", "t.png", "."], "--picture t.png must end in .svg"),
        (["--arrivals", "nowhere/t.txt", "."], "the directory nowhere does not exist"),
        (["--site", "1", "."], "for --arrivals FILE"),
        (["--site", "0", "--arrivals", "t.txt", "."], "--site"),
        (["--use", "allgather=ring", "."], "for running a program"),
        (["--use", "allgather=rong", "--", "true"], "rong"),
    ],
)
def test_wrong_requests(
    convene: Convene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = convene("trace", *words)
    assert done.status == 2
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_trace_tells_and_exports(convene: Convene, tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    folder.mkdir()
    write_all(folder)
    chrome, arrivals, picture = (tmp_path / name for name in ("t.json", "t.txt", "t.svg"))
    done = convene("trace", folder, "--export", chrome, "--arrivals", arrivals, "--picture", picture)
    assert done.status == 0, done.err
    assert "rank 2 (100%)" in done.out
    assert "rank 2 arrived last in 4 of its 4 calls, and caused 100% of all waiting" in done.out
    received = json.loads(chrome.read_text())
    slices = [event for event in received["traceEvents"] if event["ph"] == "X"]
    assert sum(event["name"] == "allgather" for event in slices) == 12
    assert sum(event["name"] == "waiting" for event in slices) == 8
    first = next(event for event in slices if event["name"] == "allgather" and event["tid"] == 2)
    assert (first["ts"], first["dur"]) == (pytest.approx(5e5), pytest.approx(1e5))
    assert first["args"]["last"] == 2
    assert "<svg" in picture.read_text()
    # What was written is what bench reads.
    assert _core.arrival_pattern(f"trace:{arrivals}", 3) == f"trace:{arrivals}"
    lines = [line for line in arrivals.read_text().splitlines() if not line.startswith("#")]
    assert lines == ["0.000000000 0.000000000 0.500000000"] * 4
    with pytest.raises(RequestError):
        _core.arrival_pattern(f"trace:{arrivals}", 4)


def test_tables_fit(convene: Convene, check_tables: Any, tmp_path: Path) -> None:
    for rank in range(3):
        arrivals = [10.0 + call + (0.5 if rank == 2 else 0.0) for call in range(4)]
        write(tmp_path, rank, arrivals, [10.6 + call for call in range(4)], collective="reduce_scatter_block")
    essential = ("site", "where", "collective", "last most often", "waiting/rank", "arrived last", "time")
    check_tables(lambda: convene("trace", tmp_path, "--calls", 3).out, *essential, "reduce_scatter_block")


def test_pictures_label_every_rank(convene: Convene, tmp_path: Path) -> None:
    folder, picture = tmp_path / "recorded", tmp_path / "t.svg"
    folder.mkdir()
    for rank in range(17):
        write(folder, rank, [10 + 0.01 * rank, 11], [10.5, 11.5], procs=17)
    assert convene("trace", folder, "--picture", picture).status == 0
    summary = lateness.summarize(recordings.read(folder))
    for drawn in (picture.read_text(), pictures.lateness_map(summary)):
        texts = re.findall(r"<text[^>]*>(\d+)</text>", drawn)
        assert [str(rank) for rank in range(17) if str(rank) not in texts] == []


def test_trace_as_json(convene: Convene, tmp_path: Path) -> None:
    write_all(tmp_path)
    received = json.loads(convene("trace", tmp_path, "--json").out)
    assert received["calls"] == 4
    assert received["waiting_seconds"] == pytest.approx(4.0)
    assert [call["last"] for call in received["timeline"]] == [2] * 4
    assert received["sites"][0]["lateness_by_rank"] == pytest.approx([0, 0, 0.5])


def test_a_site_that_is_not_there_is_refused_before_anything_is_written(
    convene: Convene, tmp_path: Path
) -> None:
    write_all(tmp_path)
    before = sorted(tmp_path.iterdir())
    words = ("trace", tmp_path, "--export", tmp_path / "t.json", "--arrivals", tmp_path / "t.txt")
    refused = convene(*words, "--site", 2).complaint
    assert refused == "--site 2 is out of range; give a number from 1 to 1"
    assert sorted(tmp_path.iterdir()) == before


def test_names_of_places() -> None:
    assert call_sites.name_of("main", "/a/b/app.c:12", "app+0x1") == "main (app.c:12)"
    assert call_sites.name_of("f(int)", "/a/app.cpp:7 (discriminator 2)", "app+0x1") == "f (app.cpp:7)"
    assert call_sites.name_of("main", "??:0", "app+0x1") == "main (app+0x1)"
    assert call_sites.name_of("main", "app.c:?", "app+0x1") == "main (app+0x1)"
    assert call_sites.name_of("??", "??:0", "app+0x1") == ""
    nowhere = Site("allgather", 0, True, "/nowhere/libx.so", 0x20, "")
    known = Site("allgather", 0, True, "/nowhere/libx.so", 0x20, "step")
    rest = Site("", 0, True, "", 0, "")
    assert list(call_sites.names([nowhere, known, rest]).values()) == [
        "libx.so+0x20",
        "step in libx.so",
        "(further places)",
    ]


def test_run_refuses_what_it_cannot_record_to(convene: Convene, tmp_path: Path) -> None:
    write_all(tmp_path)
    assert "contains the recordings of another run" in convene("run", "--record", tmp_path, "--", "true").err
    done = convene("run", "--record", tmp_path / "a" / "b", "--", "true")
    assert done.status == 2
    assert "cannot create the directory" in done.err
    assert convene("run", "--record", tmp_path / "recording-1000-0.bin", "--", "true").status == 2
