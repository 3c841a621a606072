# SPDX-License-Identifier: BSD-3-Clause
"""Tuning: judgement of measurements, candidates, and interrupted runs."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from convene.bench.requests import Request
from convene.tune import candidates, judge, stages, wisdom_files
from convene.tune.judge import Verdict

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
