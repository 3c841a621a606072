# SPDX-License-Identifier: BSD-3-Clause
"""Tuning: judgement of measurements, and wisdom files."""

import json
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from convene._core import RequestError
from convene.bench.requests import Request
from convene.tune import candidates, judge, stages, wisdom_files
from convene.tune.judge import Verdict
from convene.tune.wisdom_files import Entry

from .conftest import Convene


def times(ratio: float, noise: float = 0.02, number: int = 60, seed: int = 1) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "native": 1e-5 * (1 + noise * random.standard_normal(number)),
        "ring": ratio * 1e-5 * (1 + noise * random.standard_normal(number)),
    }


def verdict(ratio: float, apart: float | None = None) -> Verdict:
    by_method = {"together": times(ratio), "apart": times(apart or ratio, seed=2)}
    return judge.verdicts(by_method, "native")[0]


def test_a_ratio_has_an_interval_around_the_truth() -> None:
    found = verdict(0.8)
    assert found.ratios["together"].whole.low < 0.8 < found.ratios["together"].whole.high
    assert found.ratio <= found.upper
    assert found.wins()


def test_equal_algorithms_are_hardly_ever_taken() -> None:
    taken = sum(
        judge.verdicts({"together": times(1.0, noise=0.1, seed=seed)}, "native")[0].wins()
        for seed in range(200)
    )
    assert taken <= 2


def test_a_choice_must_win_by_every_method() -> None:
    assert not verdict(0.5, apart=1.1).wins()
    assert verdict(0.5, apart=1.1).ratio > 1


def test_a_choice_needs_a_neighbour_and_covers_the_sizes_between() -> None:
    by_size = {8: [verdict(1.2)], 64: [verdict(0.5)], 512: [verdict(0.6)], 4096: [verdict(1.1)]}
    chosen = judge.choose(by_size)
    assert [(each.size, each.least, each.most) for each in chosen] == [(64, 64, 181), (512, 182, 512)]
    assert judge.choose({8: [verdict(0.5)], 64: [verdict(1.2)]}) == []
    assert [each.size for each in judge.choose({0: [verdict(0.5)]})] == [0]


def test_only_the_hopeful_are_measured_further() -> None:
    screened = {8: {name: np.full(9, t) for name, t in [("native", 1.0), ("a", 0.9), ("b", 2.0)]}}
    assert stages.finalists(screened) == ["a"]


def test_candidates_run_without_forecasts_and_on_one_node() -> None:
    found = candidates.candidates("allgather", 3, 1)
    assert "ring" in found
    assert "sparbit;send=packed" in found
    assert "recursive_doubling" not in found  # a power of two
    assert not any("(" in spec or "bdr" in spec for spec in found)


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
            said = "".join(convene("wisdom", *words).out.split())
            assert said.startswith(f"CONVENE_WISDOM={value}")
            assert "unsetthevariable" in said
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


def test_a_wrong_budget_is_refused(convene: Convene) -> None:
    complaint = convene("tune", "-n", "2", "--budget", "soon").complaint
    assert "invalid time 'soon' for --budget; give a number of seconds or a unit" in complaint
    assert "as in 90s, 10min or 1h" in complaint


@pytest.mark.parametrize(("number", "wanted"), [("0", "at least 2"), ("x", "a whole number")])
def test_a_wrong_number_of_ranks_is_refused(convene: Convene, number: str, wanted: str) -> None:
    pydantic = f"'-n' / '--procs' must be {wanted}, not '{number}'; see --help"
    click = ("0 is not in the range 2<=x<=65536", "'x' is not a valid integer")  # of Typer up to 0.20
    complaint = convene("tune", "-n", number).complaint
    assert complaint == pydantic or any(each in complaint for each in click)


class FakeProgram:
    """Stands in for the measuring program: ring takes half of native's time. It can be killed."""

    def __init__(self) -> None:
        self.measured: list[tuple[str, bool, tuple[str, ...], int]] = []
        self.lives = 10**6  # sizes until it is killed
        self.mpi = "Open MPI v4.1.4, package"
        self.hosts = ["a", "a"]

    def measure(self, _: object, request: Request, __: object, lines: Path) -> None:
        head = {
            "procs": request.procs,
            "options": {"distribution": request.distribution},
            "environment": {
                "mpi": self.mpi,
                "cores": 2,
                "hosts": [*{*self.hosts}],
                "host_of_rank": self.hosts,
            },
        }
        seconds = {"native": 1e-5, "ring": 5e-6}
        lines.write_text(json.dumps(head) + "\n")
        for size in request.sizes:
            if self.lives == 0:
                raise KeyboardInterrupt
            self.lives -= 1
            is_single = request.batch == stages.SINGLE_CALL
            self.measured.append((request.collective, is_single, tuple(request.contenders), size))
            cell = {
                "bytes": size,
                "arrivals": "none",
                "contenders": [
                    {"name": name, "seconds": [seconds.get(name, 2e-5)] * 16} for name in request.contenders
                ],
            }
            with lines.open("a") as file:
                file.write(json.dumps(cell) + "\n")


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> FakeProgram:
    fake = FakeProgram()
    setting = SimpleNamespace(launcher=SimpleNamespace(path=Path("mpirun")))
    monkeypatch.setattr("convene.mpi.settings.find_setting", lambda *_: setting)
    monkeypatch.setattr("convene.bench.program.measure", fake.measure)
    return fake


def test_a_killed_tuning_continues(convene: Convene, program: FakeProgram, tmp_path: Path) -> None:
    missing = convene("tune", "-n", "2", "-o", tmp_path / "no" / "w.json").complaint
    assert f"the directory {tmp_path / 'no'} does not exist" in missing
    path = tmp_path / "w.json"
    words = ("tune", "allgather", "alltoall", "-n", "2", "--sizes", "8,64,512", "-o", path)
    program.lives = 6  # the nodes, the screening of allgather, and two of three sizes of its first method
    killed = convene(*words)
    assert killed.status == 130
    folder = path.with_name("w.json.part")
    assert f"6 measurements are kept in {folder}; run the same command with --resume" in killed.err
    assert f"{folder} contains results of an interrupted tuning; add --resume" in convene(*words).complaint
    program.lives = 10**6
    assert convene(*words, "--resume").status == 0
    assert not folder.exists()
    assert len(program.measured) == len(set(program.measured)), "nothing is measured twice"
    assert {entry["collective"] for entry in wisdom_files.read(path)} == {"allgather"}
    assert "there is nothing to resume" in convene(*words, "--resume").complaint


def test_only_what_can_run_on_several_nodes_is_measured(
    convene: Convene, program: FakeProgram, tmp_path: Path
) -> None:
    words = ("tune", "allgather", "-n", "2", "--sizes", "8,64")
    assert convene(*words, "-o", tmp_path / "one.json").status == 0
    on_one = {name for _, _, names, _ in program.measured for name in names}
    program.measured.clear()
    program.hosts = ["a", "b"]
    assert convene(*words, "-o", tmp_path / "two.json").status == 0
    on_two = {name for _, _, names, _ in program.measured for name in names}
    assert "shared" in on_one - on_two
    assert any(name.startswith("hier") for name in on_two - on_one)
    (first, *_) = wisdom_files.read(tmp_path / "two.json")
    assert (first["nodes"], first["ranks_per_node"]) == (2, 1)


def test_an_exhausted_budget_continues(convene: Convene, program: FakeProgram, tmp_path: Path) -> None:
    words = ("tune", "allgather", "alltoall", "-n", "2", "--sizes", "8,64", "-o", tmp_path / "w.json")
    assert "not measured: alltoall; run the same" in convene(*words, "--budget", "0.001s").err
    known = len(program.measured)
    assert convene(*words, "--resume").status == 0
    assert {collective for collective, *_ in program.measured[known:]} == {"alltoall"}


def test_only_the_same_tuning_continues(convene: Convene, program: FakeProgram, tmp_path: Path) -> None:
    words = ("tune", "allgather", "-n", "2", "-o", tmp_path / "w.json")
    program.lives = 1
    convene(*words, "--sizes", "8,64")
    other = convene(*words, "--sizes", "8,512", "--resume").complaint
    assert "has other settings (sizes was [8, 64], now [8, 512])" in other
    program.mpi, program.lives = "MPICH 5", 10**6
    elsewhere = convene(*words, "--sizes", "8,64", "--resume").complaint
    assert "began where mpi was Open MPI v4.1.4, package, now it is MPICH 5" in elsewhere
    assert "exclude each other" in convene(*words, "--resume", "--dry-run").complaint
