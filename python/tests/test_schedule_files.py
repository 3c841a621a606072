# SPDX-License-Identifier: BSD-3-Clause
"""Schedules from files: what show writes is what verify, simulate and predict read."""

import json
from pathlib import Path
from typing import Any

import pytest
from convene.catalogue import schedule_files
from convene.simulate import estimates, platforms
from convene.simulate.cases import Case

Convene = Any
Change = Any

SWEEP = ("simulate", "sweep", "allgather", "--platform", "yahoo", "-p", 4, "--sizes", "8,4KiB", "--json")
PREDICT = ("predict", "allgather", "--platform", "metropolis", "-p", 4, "--nodes", 2, "--json")
BRUCK = ("--algorithms", "bruck")


@pytest.fixture
def schedule(convene: Convene, tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    assert convene("show", "allgather", "bruck", "-p", 4, "-o", path).status == 0
    return path


def change(path: Path, changed: Change) -> Path:
    """A copy of the file in which changed(plan) was called."""
    plan = json.loads(path.read_text())
    changed(plan)
    copy = path.with_name("changed.json")
    copy.write_text(json.dumps(plan, indent=1))
    return copy


def break_it(plan: Any) -> None:
    """Rank 0 sends a block that it does not have yet."""
    plan["ranks"][0]["steps"][1]["slots"] = [["output", 3]]


def test_a_schedule_is_verified(convene: Convene, schedule: Path) -> None:
    done = convene("verify", "--schedule", schedule)
    assert done.status == 0, done
    assert "all pass" in done.out
    (found,) = convene("verify", "--schedule", schedule, "--json").json
    assert found["ok"]
    assert (found["collective"], found["procs"], found["messages"]) == ("allgather", 4, 8)


def test_several_schedules_are_verified(convene: Convene, schedule: Path) -> None:
    wrong = change(schedule, break_it)
    done = convene("verify", "--schedule", schedule, "--schedule", wrong, "--json")
    assert done.status == 1
    assert [each["ok"] for each in done.json] == [True, False]
    assert f"allgather {wrong}, 4 processes, root 0: rank " in done.err


def test_a_schedule_is_simulated_as_its_algorithm(convene: Convene, schedule: Path) -> None:
    found = convene(*SWEEP, *BRUCK, "--schedule", schedule).json
    for size in found["sizes"]:
        bruck, mine = size["contenders"]
        assert mine == {**bruck, "name": str(schedule)}


def test_a_schedule_is_predicted_as_its_algorithm(convene: Convene, schedule: Path) -> None:
    found = convene(*PREDICT, *BRUCK, "--schedule", schedule).json["algorithms"]
    assert sorted(each["algorithm"] for each in found) == sorted(["bruck", str(schedule)])
    assert found[0]["seconds"] == found[1]["seconds"]
    done = convene(
        "predict", "allgather", "-p", 4, "--nodes", 2, "--expression", *BRUCK, "--schedule", schedule
    )
    bruck, mine = done.out.split(f"{schedule}:\n")
    assert bruck == f"bruck:\n{mine}"


def test_a_wrong_schedule_is_not_used(convene: Convene, schedule: Path) -> None:
    wrong = change(schedule, break_it)
    for words in (SWEEP, PREDICT):
        complaint = convene(*words, *BRUCK, "--schedule", wrong).complaint
        assert complaint.startswith(f"{wrong} is no correct allgather: rank "), complaint


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (lambda plan: plan.pop("collective"), 'lacks "collective"; add it'),
        (lambda plan: plan.update(collective="algather"), "did you mean allgather"),
        (lambda plan: plan["ranks"].pop(), '"ranks" must have 4 entries, not 3'),
        (lambda plan: plan["ranks"][1]["steps"][1].update(kind="put"), 'rank 1, step 1: "kind" is unknown'),
        (
            lambda plan: plan["ranks"][1]["steps"][1].update(peer=4),
            "must be a whole number from 0 to 3, not 4",
        ),
        (
            lambda plan: plan["ranks"][1]["steps"][1].update(after=[7]),
            "names earlier steps of the rank, 0 to 0",
        ),
        (lambda plan: plan["ranks"][1]["steps"][1].update(slots=[["output", 4]]), "it must be from 0 to 3"),
        (lambda plan: plan["ranks"][1]["steps"].pop(), "give every send one recv"),
    ],
)
def test_what_is_no_schedule(convene: Convene, schedule: Path, changed: Change, sentence: str) -> None:
    wrong = change(schedule, changed)
    for words in (("verify",), (*SWEEP, *BRUCK), (*PREDICT, *BRUCK)):
        complaint = convene(*words, "--schedule", wrong).complaint
        assert sentence in complaint
        assert complaint.startswith(str(wrong))


def test_a_schedule_has_its_own_call(convene: Convene, schedule: Path) -> None:
    def complaint(*words: object) -> str:
        return str(convene(*words, "--schedule", schedule).complaint)

    assert "for 4 processes; say so with -p" in complaint(*SWEEP[:4], "yahoo", "-p", 8, *BRUCK)
    assert "for 4 processes; say so with -p" in complaint(*PREDICT[:4], "-p", 8, "--nodes", 2, *BRUCK)
    assert "not of bcast" in complaint("predict", "bcast", *PREDICT[2:])
    assert "--procs cannot be combined with --schedule" in complaint("verify", "--procs", "8")
    assert "leave out allgather" in complaint("verify", "allgather")
    assert "--winners" in complaint(*PREDICT, "--winners")
    assert "has no operator" in complaint("verify", "--non-commutative")


def test_a_file_that_cannot_be_read(convene: Convene, tmp_path: Path) -> None:
    assert "No such file" in convene("verify", "--schedule", tmp_path / "none.json").complaint
    path = tmp_path / "latin.json"
    path.write_bytes(b"\xff")
    assert "it is not UTF-8" in convene("verify", "--schedule", path).complaint


def case(procs: int, sizes: int, schedule: Path | None = None) -> Case:
    given = schedule_files.load(schedule) if schedule else None
    platform = platforms.load_platform("yahoo")
    arrivals = ((0.0,) * procs,)
    spec = given.file if given else "ring"
    return Case(
        *("allgather", spec, procs, tuple(range(1, sizes + 1)), platform, "sequential", arrivals),
        schedule=given,
    )


def test_long_simulations_say_an_estimate(monkeypatch: pytest.MonkeyPatch, schedule: Path) -> None:
    assert estimates.sentence([case(64, 10)]) == ""
    assert case(2048, 1).extent() == ("", 2048 * (2 * 2047 + 1))
    assert case(4, 1, schedule).extent() == ("", 20)
    monkeypatch.setattr(estimates, "seconds_per_step", lambda _: 1e-7)
    text = estimates.sentence([case(2048, 100)])
    steps = 100 * 2048 * (2 * 2047 + 1)
    minutes = estimates.RISE * 1e-7 * steps / 60
    assert text == f"simulating ring in 100 runs takes about {minutes:.0f} min"


def test_the_time_of_a_step_is_measured() -> None:
    assert 1e-9 < estimates.seconds_per_step(case(2048, 1)) < 1e-3


def test_a_sweep_says_its_estimate(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "FEW_STEPS", 0)
    monkeypatch.setattr(estimates, "WORTH_SAYING", 0.0)
    done = convene(*SWEEP, "--algorithms", "ring,bruck")
    assert done.status == 0
    assert "convene: simulating 2 algorithms in 4 runs takes about 0 s" in done.err
