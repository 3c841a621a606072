# SPDX-License-Identifier: BSD-3-Clause
"""convene selftest: parts within a budget, their verdicts, and the page."""

import json
import shlex
import time
from pathlib import Path

import numpy as np
import pytest
from convene._core import RequestError
from convene.base.result_types import MeasuredRun
from convene.bench.requests import Request
from convene.cli.commands.selftest import launch_of
from convene.cli.options import Launch
from convene.mpi import settings
from convene.mpi.processes import RunError
from convene.selftest import kit, parts
from convene.selftest.kit import Found, Launched, Part, Verdict

from .conftest import Convene

NO_LAUNCHER = Launch(launcher=None, stack=None)


def passes(launched: Launched) -> Found:
    return Found([f"{launched.procs} ranks"])


def breaks(launched: Launched) -> Found:
    raise RunError("the MPI program ended with status 139")


def launched(procs: int = 4, seconds: float = 60, *, quick: bool = False) -> Launched:
    setting = settings.Setting(settings.usual_launcher(None), [], "openmpi", Path("none"))
    return Launched(setting, procs, quick, time.monotonic() + seconds)


def verdicts(given: list[Part], where: Launched) -> dict[str, Verdict]:
    said: list[tuple[int, int, str]] = []
    found = list(kit.run_parts(given, where, lambda *words: said.append(words)))
    assert [name for _, _, name in said] == [each.name for each in found]
    return {each.name: each.found.verdict for each in found}


def test_a_part_that_breaks_fails_and_the_next_one_runs() -> None:
    given = [Part("first", breaks), Part("second", passes)]
    assert verdicts(given, launched()) == {"first": Verdict.FAILED, "second": Verdict.PASSED}
    (first, _) = kit.run_parts(given, launched(), lambda *words: None)
    assert first.sentences == ["the MPI program ended with status 139"]


def test_the_budget_skips_what_it_does_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def exhausts(_: Launched) -> Found:
        nonlocal now
        now += 60
        return Found()

    monkeypatch.setattr(time, "monotonic", lambda: now)
    given = [Part("first", exhausts), Part("second", passes)]
    assert verdicts(given, launched(seconds=60)) == {"first": Verdict.PASSED, "second": Verdict.SKIPPED}


def test_quick_leaves_parts_out() -> None:
    given = [Part("first", passes), Part("second", breaks, is_quick=False)]
    assert verdicts(given, launched(quick=True)) == {"first": Verdict.PASSED}


def test_the_summary_names_what_failed_and_what_was_skipped() -> None:
    results = [
        kit.Result("a", 1, Found(failures=["x"])),
        kit.Result("b", 1, Found(skipped="y")),
        kit.Result("c", 1, Found()),
    ]
    assert kit.summary(results, 12) == "failed: a; skipped: b (12 s)"
    assert kit.summary(results[2:], 12) == "passed (12 s)"


@pytest.mark.parametrize(
    ("words", "procs", "expected"),
    [
        ("", 4, (None, 4)),
        ("mpirun -n 4", None, ("mpirun", 4)),
        ("mpirun -np 8 --hostfile 'my hosts'", None, ("mpirun --hostfile 'my hosts'", 8)),
        ("srun -N 2", 4, ("srun -N 2", 4)),
        ("mpirun -n 4", 4, ("mpirun", 4)),
    ],
)
def test_launchers_after_the_hyphens(words: str, procs: int | None, expected: object) -> None:
    assert launch_of(shlex.split(words), procs, NO_LAUNCHER) == expected


@pytest.mark.parametrize(
    ("words", "procs", "launch", "part"),
    [
        ("", None, NO_LAUNCHER, "the number of ranks is missing"),
        ("mpirun", None, NO_LAUNCHER, "give -n after mpirun"),
        ("app", None, NO_LAUNCHER, "'app' is no launcher; give one after --"),
        ("mpirun -n", None, NO_LAUNCHER, "-n '' is no number of ranks"),
        ("mpirun -n 1", None, NO_LAUNCHER, "-n '1' is no number of ranks; give 2 or more"),
        ("mpirun -n 4", 8, NO_LAUNCHER, "differ"),
        ("mpirun -n 4", None, Launch(launcher="mpirun", stack=None), "not both"),
    ],
)
def test_wrong_launchers_are_refused(words: str, procs: int | None, launch: Launch, part: str) -> None:
    with pytest.raises(RequestError, match=part):
        launch_of(words.split(), procs, launch)


@pytest.mark.parametrize(
    ("calls", "verdict"),
    [
        ({"wisdom: 0.50 of native": 20_000, "guard: back to native, 9.00": 30_000}, Verdict.PASSED),
        ({"wisdom: 0.50 of native": 50_000}, Verdict.FAILED),
        ({"wisdom: 0.50 of native": 500}, Verdict.SKIPPED),
        ({"default": 50_000}, Verdict.FAILED),
        ({}, Verdict.FAILED),
    ],
)
def test_what_the_guard_must_do(calls: dict[str, float], verdict: Verdict) -> None:
    assert parts.judge_guard(calls).verdict is verdict


def test_wrong_data_of_one_collective_fails_and_the_others_are_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def measure(_: object, request: Request) -> MeasuredRun | None:
        asked.append(request)
        if request.collective == "alltoall":
            raise RunError("ring delivers wrong data")
        return None

    monkeypatch.setattr("convene.bench.program.measure", measure)
    found = parts.results(launched(3))
    assert found.failures == ["alltoall: ring delivers wrong data"]
    algorithms = found.data["algorithms"]
    assert isinstance(algorithms, dict)
    assert len(algorithms) == len(asked) - 1
    assert all(each.check == "every" and "native" in each.contenders for each in asked)
    assert found.verdict is Verdict.FAILED


def test_schedules_are_verified() -> None:
    found = parts.schedules(launched(3))
    assert found.verdict is Verdict.PASSED
    assert found.data["procs"] == 3
    assert int(str(found.data["cases"])) > 100


def test_studies_need_four_ranks() -> None:
    assert "at least 4 ranks" in parts.studies(launched(3)).skipped


@pytest.mark.parametrize(("part", "status"), [(passes, 0), (breaks, 1)])
def test_the_page_and_the_exit_status(
    part: object, status: int, convene: Convene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(parts, "PARTS", [Part("only", part)])  # type: ignore[arg-type]
    path = tmp_path / "page.json"
    done = convene("selftest", "-o", path, "-n", 2)
    assert done.status == status
    assert "part 1 of 1: only" in done.err
    assert ("selftest: passed" if status == 0 else "selftest: failed: only") in done.out
    assert "processor" in done.out
    written = json.loads(path.read_text())
    assert written["procs"] == 2
    assert written["parts"][0]["verdict"] == ("passed" if status == 0 else "failed")
    assert written["info"]["machine"]["cores"] >= 1


def test_bad_requests(convene: Convene, tmp_path: Path) -> None:
    assert "the number of ranks is missing" in convene("selftest").complaint
    assert ".json" in convene("selftest", "-n", 2, "-o", tmp_path / "x.txt").complaint
    assert "--budget" in convene("selftest", "-n", 2, "--budget", "soon").complaint


def test_the_guard_is_not_judged_where_calls_are_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {64: {"native": np.array([0.001, 0.002])}}
    monkeypatch.setattr("convene.bench.program.measure", lambda setting, request: None)
    monkeypatch.setattr("convene.tune.stages.times_of", lambda run: times)
    assert "a native call takes 1.5 ms" in parts.guard(launched()).skipped
