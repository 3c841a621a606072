# SPDX-License-Identifier: BSD-3-Clause
"""Wisdom files, and the command that shows and changes them."""

import json
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import pytest
from convene._core import RequestError
from convene.tune import wisdom_files
from convene.tune.wisdom_files import Entry

from .conftest import Convene


def entry(**others: Any) -> Entry:
    made: Any = {
        "mpi": "Open MPI 4.1.4",
        "cpu": "A",
        "cores": 2,
        "network": "",
        "collective": "allgather",
        "procs": 4,
        "nodes": 1,
        "ranks_per_node": 4,
        "shares_cores": True,
        "bytes": [8, 64],
        "use": "ring",
        "ratio": 0.5,
        "upper": 0.6,
        "measured": "2026-11-26",
    }
    made.update(others)
    return cast(Entry, made)


def test_newer_entries_replace_older_ones_that_they_cover() -> None:
    old, new = entry(use="bruck", measured="2026-01-01"), entry()
    assert wisdom_files.merged([old], [new]) == [new]
    assert wisdom_files.merged([new], [old]) == [new, old]  # the library takes the newer one
    apart = entry(bytes=[65, 99])
    assert wisdom_files.merged([old, apart], [new]) == [new, apart]
    elsewhere = entry(cpu="B")
    assert len(wisdom_files.merged([elsewhere], [new])) == 2


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "deeper" / "wisdom.json"
    wisdom_files.update(path, lambda old: [*old, entry()])
    wisdom_files.update(path, lambda old: [*old, entry(bytes=[65, 99])])
    assert wisdom_files.read(path) == [entry(), entry(bytes=[65, 99])]
    assert path.stat().st_mode & 0o777 == 0o644
    before = path.read_text()
    with pytest.raises(RequestError, match="entry 1"):
        wisdom_files.update(path, lambda _: [entry(ratio=-1)])
    assert path.read_text() == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["wisdom.json", "wisdom.lock"]


def add(path: str, number: int) -> None:
    for i in range(20):
        one = entry(bytes=[1000 * number + i, 1000 * number + i])
        wisdom_files.update(Path(path), partial(wisdom_files.merged, new=[one]))


def test_concurrent_jobs_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "wisdom.json"
    context = get_context("fork")
    jobs = [context.Process(target=add, args=(str(path), number)) for number in range(4)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert len(wisdom_files.read(path)) == 80


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "w.json"
    path.write_text(wisdom_files.text_of([entry(), entry(collective="bcast", use="binomial")]))
    path.chmod(0o644)
    return path


def test_wisdom_is_listed_and_shown(convene: Convene, file: Path) -> None:
    assert "Open MPI 4.1.4" in convene("wisdom", "list", "--file", file).out
    shown = convene("wisdom", "show", "allgather", "--file", file).out
    assert "ring" in shown
    assert "binomial" not in shown
    assert len(convene("wisdom", "show", "--file", file, "--json").json) == 2


def test_an_unknown_collective_is_refused(
    convene: Convene, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if there is no wisdom file."""
    monkeypatch.setenv("CONVENE_WISDOM", str(tmp_path / "none.json"))
    for words in (("show",), ("forget",), ("show", "--file", file)):
        assert (
            "there is no collective 'allgahter'"
            in convene("wisdom", words[0], "allgahter", *words[1:]).complaint
        )


def test_no_wisdom_file_has_a_reason(
    convene: Convene, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(wisdom_files, "search_path", lambda: [tmp_path / "convene" / "wisdom.json"])
    for words in (("list",), ("show", "allgather")):
        assert convene("wisdom", *words).out == "No wisdom file found; convene tune -n RANKS writes one.\n"
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for value in (tmp_path / "none.json", tmp_path, "none"):
        monkeypatch.setenv("CONVENE_WISDOM", str(value))
        for words in (("list",), ("show", "allgather")):
            printed = "".join(convene("wisdom", *words).out.split())
            assert printed.startswith(f"CONVENE_WISDOM={value}")
            assert "unsetthevariable" in printed
    merged = " ".join(convene("wisdom", "merge", file).out.split())
    assert "now has 2 entries; the library does not read it, because CONVENE_WISDOM=none" in merged
    assert "does not read it" not in convene("wisdom", "merge", file, "--file", tmp_path / "w2.json").out


def test_what_is_no_wisdom_file_is_said(convene: Convene, file: Path, tmp_path: Path) -> None:
    binary = tmp_path / "bin.json"
    binary.write_bytes(b"\xff\xfe")
    assert convene("wisdom", "list", "--file", binary).complaint == (
        f"cannot read the wisdom file {binary}: it is not UTF-8"
    )
    for words in ("check", "merge", "list --file", "show --file", "forget bcast --file"):
        assert (
            f"wisdom file {tmp_path} is a directory" in convene("wisdom", *words.split(), tmp_path).complaint
        )
    assert "it is a directory" in convene("wisdom", "merge", file, "--file", tmp_path).complaint


def test_a_refused_merge_leaves_nothing(convene: Convene, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "q1.json"
    other.write_text("[]")
    before = sorted(tmp_path.iterdir())
    assert convene("wisdom", "merge", file, "--file", other).complaint
    nowhere = tmp_path / "no" / "sub" / "new.json"
    complaint = convene("wisdom", "merge", file, "--file", nowhere).complaint
    assert complaint == f"cannot write {nowhere}: the directory {nowhere.parent} does not exist"
    assert sorted(tmp_path.iterdir()) == before


def test_an_mpi_without_entries_is_refused(convene: Convene, file: Path) -> None:
    before = file.read_text()
    for words in (("show", "--file"), ("forget", "--file"), ("check",)):
        for name in ("Nope", ""):
            assert convene("wisdom", *words, file, "--mpi", name).complaint == (
                f"no entries of MPI '{name}'; there are: Open MPI 4.1.4"
            )
    assert file.read_text() == before
    assert "ring" in convene("wisdom", "show", "--file", file, "--mpi", "Open MPI 4.1.4").out


def test_all_entries_or_some(convene: Convene, file: Path) -> None:
    before = file.read_text()
    for words in (("bcast",), ("--mpi", "Open MPI 4.1.4")):
        assert "--all removes all" in convene("wisdom", "forget", *words, "--all", "--file", file).complaint
    for word in ("show", "forget"):
        assert "no collective ''" in convene("wisdom", word, "", "--file", file).complaint
    assert file.read_text() == before
    assert "2 of 2" in convene("wisdom", "forget", "--all", "--file", file).out


def test_sizes_without_a_limit(convene: Convene, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    spans = [[0, wisdom_files.NO_LIMIT], [8, wisdom_files.NO_LIMIT]]
    path.write_text(wisdom_files.text_of([entry(bytes=spans[0]), entry(bytes=spans[1], procs=3)]))
    shown = convene("wisdom", "show", "--file", path).out
    assert "any size" in shown
    assert "from 8 B on" in shown
    received = convene("wisdom", "show", "--file", path, "--json").json
    assert [each.get("bytes") for each in received] == [None, {"min": 8}]
    assert [wisdom_files.normal(each)["bytes"] for each in received] == spans
    assert convene("wisdom", "list", "--file", path, "--json").json == {str(path): received}
    assert convene("wisdom", "merge", path, "--file", tmp_path / "m.json").status == 0
    assert str(wisdom_files.NO_LIMIT) in (tmp_path / "m.json").read_text()


def test_wisdom_names_the_method(convene: Convene, file: Path) -> None:
    file.write_text(wisdom_files.text_of([entry(evidence={"how": "learned", "calls": 512}), entry(procs=3)]))
    shown = convene("wisdom", "show", "--file", file).out
    assert "method" in shown
    assert shown.count("learned") == 1


def test_tables_fit(convene: Convene, check_tables: Any, file: Path) -> None:
    cpu = "AMD EPYC 7763 64-Core Processor, family 25, model 1, stepping 1"
    long = entry(use="hier(sparbit,linear;leaders=2)", cpu=cpu)
    file.write_text(wisdom_files.text_of([long, entry(collective="reduce_scatter_block", cpu=cpu)]))
    essential = ("collective", "ranks", "block", "choice", "ratio")
    check_tables(lambda: convene("wisdom", "show", "--file", file).out, *essential)
    check_tables(
        lambda: convene("wisdom", "list", "--file", file).out, "MPI", "cores", "entries", "processor"
    )


def test_brackets_in_wisdom_are_no_markup(convene: Convene, tmp_path: Path) -> None:
    path = tmp_path / "[bold]w[1].json"
    path.write_text(wisdom_files.text_of([entry(mpi="MPI [/red]", cpu="[bold]")]))
    shown = convene("wisdom", "show", "--file", path)
    assert "MPI [/red], cores shared" in shown.out
    listed = convene("wisdom", "list", "--file", path).out
    assert "[bold]w[1].json" in "".join(listed.split())  # a narrow table folds its title
    assert "MPI [/red]  [bold]" in listed


def test_wisdom_is_merged_and_forgotten(convene: Convene, file: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.json"
    assert convene("wisdom", "merge", file, "--file", target).status == 0
    assert len(json.loads(target.read_text())["entries"]) == 2
    assert "1 of 2" in convene("wisdom", "forget", "bcast", "--file", target).out
    assert "nothing to remove" in convene("wisdom", "forget", "--file", target).complaint


def test_wisdom_is_checked(convene: Convene, file: Path) -> None:
    assert "2 entries, 0 for this processor" in convene("wisdom", "check", file).out
    assert convene("wisdom", "forget", "bcast", "--file", file).status == 0
    assert "1 entry, 0 for this processor" in convene("wisdom", "check", file).out
    file.chmod(0o666)
    assert convene("wisdom", "check", file).status == 2
    file.write_text("{")
    assert "not JSON" in convene("wisdom", "show", "--file", file).complaint
    assert "not found" in convene("wisdom", "check", file.with_name("none")).complaint
