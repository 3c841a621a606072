# SPDX-License-Identifier: BSD-3-Clause
"""convene kernel."""

import json
from pathlib import Path
from typing import Any

import pytest
from convene import _core
from convene._core import RequestError
from convene.model import machine_models, measured_machines, platform_files
from convene.model.platform_files import PlatformFile
from convene.simulate import platforms

Convene = Any
FOLDER = Path(__file__).resolve().parent.parent.parent / "examples" / "summa"


def files(layout: str, partition: str) -> tuple[Path, Path]:
    return FOLDER / f"{layout}.layout", FOLDER / f"{partition}.partition"


# The source's (A.17) prints 3589 where 37 · 107 = 3959.
TOTALS = {
    (
        "config1",
        "config1",
    ): "3 ∥ T⁰(10752) + 2 ∥ T⁰(44032) + 4 ∥ T¹(3959) + 3 ∥ T¹(2247) + 2 ∥ T¹(19787) + T¹(3385)",
    ("config2", "config2"): "2 ∥ T⁰(26800) + T⁰(3654) + 3 ∥ T¹(8960) + 2 ∥ T¹(47300) + T¹(17874)",
    ("config2", "config2_mod"): "2 ∥ T⁰(57064) + T⁰(3654) + 3 ∥ T¹(8960) + 2 ∥ T¹(17036) + T¹(17874)",
}


@pytest.mark.parametrize("which", TOTALS)
def test_the_configurations_of_the_source(convene: Convene, which: tuple[str, str]) -> None:
    out = convene("kernel", "summa", *files(*which)).out
    assert f"total:   {TOTALS[which]}\n" in out


def test_which_one_costs_more(convene: Convene) -> None:
    words = ("kernel", "summa", *files("config2", "config2"), "--compare", *files("config2", "config2_mod"))
    assert "the first ≥ the second, on every machine" in convene(*words).out
    assert convene(*words, "--json").json["relation"] == "≥"


def test_a_time_follows_from_a_platform(convene: Convene) -> None:
    where = (*files("config1", "config1"), "--platform", "metropolis", "--json")
    seconds = [
        convene("kernel", "summa", *where, "--block", block).json["seconds"] for block in (32, 64, 128)
    ]
    # Four times the bytes cost four times as much, but for what each message costs anyway.
    assert 3.9 < seconds[1] / seconds[0] < 4
    assert 3.9 < seconds[2] / seconds[1] < 4


@pytest.mark.parametrize(
    ("layout", "partition", "sentence"),
    [
        ("node0\n", "1: 0 1\n", "line 1: 'node0' does not describe a process"),
        ("# nothing\n", "1: 0 1\n", "layout is empty"),
        ("a 0\n", "\n2: 0 1 1\n", "line 2: '2: 0 1 1' does not describe a column"),
        ("a 0\n", "2: 0 1\n", "column 0 of the partition is 1 blocks high"),
        ("a 0\nb 0\n", "2: 0 2\n", "rectangles for 1 of 2 processes"),
    ],
)
def test_wrong_files(convene: Convene, tmp_path: Path, layout: str, partition: str, sentence: str) -> None:
    (tmp_path / "layout").write_text(layout)
    (tmp_path / "partition").write_text(partition)
    assert sentence in convene("kernel", "summa", tmp_path / "layout", tmp_path / "partition").complaint


def test_wrong_requests(convene: Convene, tmp_path: Path) -> None:
    assert "cannot read" in convene("kernel", "summa", tmp_path / "no", tmp_path / "no").complaint
    assert "did you mean summa?" in convene("kernel", "suma", *files("config1", "config1")).complaint
    assert "two files" in convene("kernel", "summa").complaint
    assert "-p 8" in convene("kernel", "shared_reduce").complaint
    assert "--procs cannot be combined with summa" in convene("kernel", "summa", "-p", 4).complaint
    assert (
        "--block cannot be combined with shared_bcast"
        in convene("kernel", "shared_bcast", "--block", 4).complaint
    )
    assert "--degree must be a whole number from 1 to 4" in (
        convene("kernel", "shared_bcast", "-p", 4, "--degree", 5).complaint
    )
    for size in ("0", "8GiB"):
        assert f"--segment {size} is out of range" in (
            convene("kernel", "shared_bcast", "-p", 4, "--segment", size).complaint
        )
    assert (
        "--degree cannot be combined with in_situ_reduce"
        in convene("kernel", "in_situ_reduce", "-p", 4, "--degree", 3).complaint
    )


def test_sockets_do_not_hide_the_network(convene: Convene, tmp_path: Path) -> None:
    machine: dict[str, Any] = {
        "convene_platform": 1,
        "name": "sockets",
        "machine": "node:4 socket:2 core:4",
        "within": {"node": {"latency": 1e-6, "bandwidth": 2e9}},
        "network": {"node": {"latency": 1e-5, "bandwidth": 1e8}},
    }
    plain, sockets = tmp_path / "plain.json", tmp_path / "sockets.json"
    plain.write_text(json.dumps(machine))
    machine["within"]["socket"] = {"latency": 1e-7, "bandwidth": 2e10}
    sockets.write_text(json.dumps(machine))

    def seconds(path: Path, *words: object) -> object:
        return convene("kernel", *words, "--platform", path, "--json").json["seconds"]

    for words in (("summa", *files("config1", "config1")), ("shared_bcast", "-p", 8)):
        assert seconds(plain, *words) == seconds(sockets, *words)


def test_collectives_through_shared_memory(convene: Convene) -> None:
    out = convene("kernel", "shared_bcast", "-p", 8, "--segments", 4).out
    assert out == "total:   L⁰(S, 1) + L⁰(S, 2) + 3L⁰(S, 4) + 3L⁰(S, 7) + L⁰(S, 3) + L⁰(S, 5)\n"
    assert "3kγ(S, 1)" in convene("kernel", "shared_reduce", "-p", 4).out
    times = [
        convene(
            *("kernel", "shared_bcast", "-p", 8, "--platform", "metropolis"), "--segments", k, "--json"
        ).json["seconds"]
        for k in (4, 8, 12)
    ]
    # Once the pipeline is full, every further segment costs the same.
    assert times[2] - times[1] == pytest.approx(times[1] - times[0])


def test_a_simulation_and_the_sum_over_iterations_agree() -> None:
    """Without contention between stages: one process in each node, two columns."""
    kernel = _core.SummaRequest([(3, [(0, 8)]), (5, [(1, 8)])], [0, 1])
    platform = platforms.load_platform("fermi")
    model = _core.ModelPlatform(machine_models.model_platform(platform.text), platform.file)
    found = _core.summa(kernel, 32768, model, False)
    simulated = _core.simulate_summa(kernel, 32768, platform.parsed, False)
    # Messages of 8 blocks, by rendezvous: two more latencies in each of 8 iterations.
    assert simulated["messages"] == 8
    assert simulated["bytes"] == 8 * 8 * 32768
    assert found["by_iteration"] == pytest.approx(simulated["seconds"], rel=0.05)
    assert found["by_iteration"] > found["seconds"]  # which has the overhead of one message only


def test_a_measured_platform_can_be_simulated() -> None:
    metropolis = platform_files.load("metropolis")
    changed = json.loads(metropolis.text)
    for channel in changed["model"]["channels"]:
        channel["hockney"] = {"alpha": 2.0, "beta": 0.001}
    machine = measured_machines.simulated_platform(PlatformFile(json.dumps(changed), "here"))
    text = json.loads(machine.text)
    assert text["within"]["node"]["bandwidth"] == pytest.approx(1e9)
    assert text["within"]["node"]["shared"] == "no"  # L(m, 8) is 2.75 times L(m, 1)
    assert text["processor"]["send"] == pytest.approx(0.1095e-6)
    assert machine.machine["cores"] == 32
    for channel in changed["model"]["channels"]:
        del channel["loggp"]
    with pytest.raises(RequestError, match="has no loggp of memory"):
        measured_machines.simulated_platform(PlatformFile(json.dumps(changed), "here"))
