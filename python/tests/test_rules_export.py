# SPDX-License-Identifier: BSD-3-Clause
"""convene rules export: what is written, left out, and printed with it. (test_mpi_native_rules runs it.)"""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from convene import _core
from convene._core import RequestError
from convene.rules import checking, choices, exporting
from convene.tune import wisdom_files
from convene.tune.wisdom_files import Entry

from .conftest import Convene


def entry(**others: Any) -> Entry:
    made: dict[str, Any] = {
        "mpi": "Open MPI 5.0.11",
        "cpu": "A",
        "cores": 2,
        "network": "",
        "collective": "allgather",
        "procs": 3,
        "nodes": 1,
        "ranks_per_node": 3,
        "shares_cores": True,
        "bytes": [1024, 16383],
        "use": "native",
        "native_algorithm": "sparbit",
        "ratio": 0.5,
        "upper": 0.6,
        "measured": "2026-11-26",
    }
    made.update(others)
    return cast(Entry, made)


def write(tmp_path: Path, *entries: Entry) -> Path:
    path = tmp_path / "wisdom.json"
    path.write_text(wisdom_files.text_of(list(entries)))
    return path


def convene_entry() -> Entry:
    made = entry(use="ring", bytes=[8, 64])
    del made["native_algorithm"]
    return made


CLASSIC = """# Rules of tuned for openmpi-5, from wisdom for Open MPI 5.0.11
1  # collectives
0  # allgather
3  # communicator sizes
0  # ranks
1  # rules: bytes, algorithm, fan-in/out, segment
0 0 0 0  # ignore
3  # ranks
3  # rules: bytes, algorithm, fan-in/out, segment
0 0 0 0  # ignore
3072 7 0 0  # sparbit
49152 0 0 0  # ignore
4  # ranks
1  # rules: bytes, algorithm, fan-in/out, segment
0 0 0 0  # ignore
"""


def test_classic_rules(convene: Convene, tmp_path: Path) -> None:
    wisdom, path = write(tmp_path, entry(), convene_entry()), tmp_path / "tuned.conf"
    done = convene("rules", "export", "--to", "openmpi-5", "--wisdom", wisdom, "-o", path)
    assert done.status == 0
    assert path.read_text() == CLASSIC
    lines = done.out.splitlines()
    assert lines[0] == f"wrote 1 choices for Open MPI 5.0.11 to {path}"
    assert "export OMPI_MCA_coll_tuned_use_dynamic_rules=1" in lines
    assert f"export OMPI_MCA_coll_tuned_dynamic_rules_filename={path}" in lines
    assert "export OMPI_MCA_coll_han_priority=0" in lines
    left = "not exported: allgather of 3 ranks, 8 to 64 bytes, ring: an algorithm of Convene"
    assert any(line.startswith(left) for line in lines)
    assert convene("rules", "check", "--for", "openmpi-5", path).status == 0
    shown = convene("rules", "export", "--to", "openmpi-5", "--wisdom", wisdom)
    assert shown.out == CLASSIC
    assert "export OMPI_MCA_coll_han_priority=0" in shown.err


def export(target: str, *entries: Entry) -> exporting.Exported:
    return exporting.export(list(entries), target, None, exporting.Selected())


def test_json_of_open_mpi_6() -> None:
    text = export("openmpi-6", entry()).text
    section = json.loads(text)["collectives"]["allgather"][0]
    assert (section["comm_size_min"], section["comm_size_max"]) == (3, 3)
    assert section["rules"] == [{"msg_size_min": 3072, "msg_size_max": 49151, "alg": "sparbit"}]
    assert checking.check(text, "six")[0].findings == []


def test_han() -> None:
    done = export("han", entry(native_algorithm="coll:tuned"), entry(collective="bcast"))
    assert done.text.splitlines()[:5] == ["1", "allgather", "1", "2", "3"]
    assert "1024 tuned\n16384 han" in done.text
    assert "han chooses components" in done.left[0].reason
    assert checking.check(done.text, "han", "han")[0].findings == []


def test_intel_and_ucc() -> None:
    done = export("intel", entry(mpi="Intel MPI 2021.18", native_algorithm="3"))
    assert done.text == 'export I_MPI_ADJUST_ALLGATHER="3:1024-16383@3-3"\n'
    assert checking.check(done.text, "intel")[0].findings == []
    done = export("ucc", entry(native_algorithm="ucc:bruck"))
    assert done.text == "export UCC_TL_UCP_TUNE='allgather:3072-49152:host:[3-3]:inf:@bruck'\n"
    assert checking.check(done.text, "ucc")[0].findings == []


LEFT = {
    "another version": (
        entry(mpi="Open MPI 4.1.4"),
        "openmpi-4",
        "this version's tuned has no such algorithm",
    ),
    "scan": (
        entry(collective="scan", native_algorithm="linear"),
        "openmpi-5",
        "compares the size of the datatype",
    ),
    "two_proc": (entry(native_algorithm="two_proc"), "openmpi-5", "runs with exactly 2 ranks only"),
    "small gain": (entry(upper=0.99), "openmpi-5", "is above 0.97"),
    "component": (entry(native_algorithm="coll:han"), "openmpi-5", "not an algorithm of the component tuned"),
    "preset": (
        entry(mpi="Intel MPI 2021", native_algorithm="9"),
        "intel",
        "presets are numbers, here 0 to 6",
    ),
    "ucc": (entry(native_algorithm="ring"), "ucc", "not an algorithm of UCC"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_out_has_a_reason(name: str) -> None:
    one, target, reason = LEFT[name]
    with pytest.raises(RequestError, match="no native algorithm that") as error:
        export(target, one)
    assert reason in str(error.value)


def test_sizes_without_a_limit_are_said() -> None:
    any_size, from_8 = (
        entry(bytes=[0, wisdom_files.NO_LIMIT]),
        entry(bytes=[8, wisdom_files.NO_LIMIT], procs=4),
    )
    for one, span in ((any_size, "any size"), (from_8, "from 8 bytes on")):
        slow = cast(Entry, {**one, "upper": 0.99})
        done = export("openmpi-5", entry(collective="bcast", native_algorithm="chain"), slow)
        assert done.left[0].what == f"allgather of {one['procs']} ranks, {span}, sparbit"
        least, most = one["bytes"]
        same = choices.Choice("allgather", one["procs"], least, most, "sparbit")
        assert str(same) == done.left[0].what


def test_layouts_that_rules_cannot_tell_apart() -> None:
    done = export(
        "openmpi-5",
        entry(),
        entry(nodes=3, ranks_per_node=1),
        entry(collective="bcast", native_algorithm="chain"),
    )
    assert [each.reason.split(",")[0] for each in done.left] == ["measured on several processors"] * 2
    one = exporting.Selected(nodes=3)
    assert exporting.export([entry(), entry(nodes=3)], "openmpi-5", None, one).count == 1


def test_the_newest_of_overlapping_entries_counts() -> None:
    done = export("openmpi-5", entry(measured="2026-01-01", native_algorithm="ring"), entry())
    assert "# sparbit" in done.text
    assert "# ring" not in done.text
    assert "a newer or better entry" in done.left[0].reason


def test_requests_that_cannot_be_met(convene: Convene, tmp_path: Path) -> None:
    wisdom = write(tmp_path, entry(), entry(mpi="Open MPI 5.0.7"))
    words = ("rules", "export", "--wisdom", wisdom, "--to")
    assert "choose one with --mpi" in convene(*words, "openmpi-5").complaint
    assert "no wisdom for Open MPI 4;" in convene(*words, "openmpi-4").complaint
    assert convene(*words, "intel").complaint == (
        "no wisdom for Intel MPI; there is wisdom for: Open MPI 5.0.11, Open MPI 5.0.7"
    )
    assert "openmpi-4" in convene(*words, "openmpi-3").complaint
    folder = convene("rules", "export", "--to", "intel", "--wisdom", tmp_path).complaint
    assert f"wisdom file {tmp_path} is a directory" in folder
    assert "is for --to mpich only" in convene(*words, "openmpi-5", "--library", wisdom).complaint
    other = write(tmp_path, entry(mpi="MPICH 5.0.2", native_algorithm="MPIR_Allgather_intra_ring"))
    said = convene("rules", "export", "--wisdom", other, "--to", "mpich", "--library", other).complaint
    assert "has no selection tree" in said


def test_wisdom_of_native_algorithms_has_its_own_place() -> None:
    """It neither replaces that of Convene's algorithms, nor is it replaced."""
    assert wisdom_files.merged([convene_entry()], [entry()]) == [convene_entry(), entry()]
    with pytest.raises(RequestError, match="native_algorithm"):
        _core.wisdom(wisdom_files.text_of([entry(use="ring")]), "w.json")
