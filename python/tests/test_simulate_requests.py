# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate: wrong requests, interruptions and what is resumed."""

import json
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from convene import _core
from convene.simulate import platforms, sweeps
from convene.simulate.cases import Case
from convene.simulate.journal import Journal

Convene = Any


YAHOO = ("--platform", "yahoo", "-p", 4)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("sweep", "allgather", "-p", 4), "Missing option '--platform'; see --help"),
        (("sweep", "allgather", "--platform", "yahoo"), "Missing option '-p' / '--procs'; see --help"),
        (
            ("sweep", "allgather", "--platform", "yaho", "-p", 4),
            "there is no platform 'yaho'; did you mean yahoo",
        ),
        (("sweep", "allgather", "--platform", "none.json", "-p", 4), "cannot read none.json"),
        (("sweep", "allgathr", *YAHOO), "there is no collective 'allgathr'"),
        (("sweep", "allgather", "--platform", "yahoo", "-p", 0), "-p must be whole numbers from 1 to"),
        (
            ("sweep", "allgather", "--platform", "yahoo", "-p", 6, "--algorithms", "recursive_doubling"),
            "needs a number of processes that is a power of two, not 6",
        ),
        (
            ("sweep", "allgather", *YAHOO, "--algorithms", "native"),
            "native has no schedule to simulate",
        ),
        (("sweep", "allgather", *YAHOO, "--arrivals", "late:4:1s"), "rank 4"),
        (("sweep", "allgather", *YAHOO, "--arrivals", "uniform:x"), "uniform:x"),
        (("sweep", "allgather", *YAHOO, "--arrivals", "trace:/"), "the trace '/' cannot be read"),
        (("sweep", "allgather", *YAHOO, "--sizes", "0:64"), "cannot begin at 0; list it, as in 0,1:64"),
        (
            ("sweep", "allgather", *YAHOO, "--incast", "curie=1KiB"),
            "for the platform 'curie', which is not used",
        ),
        (("sweep", "allgather", *YAHOO, "--time-slice", "curie=x"), "for the platform 'curie', which is not"),
        (("study", "summa", "--time-slice", "1ms"), "the study summa has no --time-slice and no --incast"),
        (
            ("sweep", "allgather", *YAHOO, "--arrivals", "poisson:1"),
            "there is no arrival pattern 'poisson'",
        ),
        (
            ("sweep", "allgather", *YAHOO, "--contention", "none"),
            "must be sharing or maxmin",
        ),
        (
            ("sweep", "allgather", *YAHOO, "--order", "compield"),
            "did you mean compiled",
        ),
        (
            ("sweep", "allgather", *YAHOO, "--mapping", "spiral"),
            'the placement "spiral"',
        ),
        (
            ("sweep", "allgather", *YAHOO, "-o", "run.txt"),
            "-o run.txt must end in .json",
        ),
        (("sweep", "bcast", *YAHOO, "--root", 4), "root 4 is out of range (4 processes)"),
        (
            ("sweep", "allgather", *YAHOO, "--root", 0),
            "--root cannot be combined with allgather",
        ),
        (
            ("sweep", "barrier", *YAHOO, "--sizes", 8),
            "--sizes cannot be combined with barrier",
        ),
        (("sweep", "allgather", *YAHOO, "--critical-path"), "needs JSON output"),
        (("export", "yahoo", "-p", 4, "-o", "no/such/a.xml"), "the directory no/such does not exist"),
        (("export", "yaho", "-p", 4, "-o", "a.xml"), "did you mean yahoo"),
        (("platforms", "yaho"), "did you mean yahoo"),
        (("sweeep", "allgather"), "No such command 'sweeep'"),
        (("sweep", "allgather", *YAHOO, "--seed", 2**64), "--seed"),
        (("study", "sparbitt"), "there is no study 'sparbitt'"),
        (("study", "sparbit", "--figure", "maps.png"), "--figure maps.png must end in .svg"),
    ],
)
def test_wrong_requests(convene: Convene, arguments: tuple[object, ...], sentence: str) -> None:
    assert sentence in convene("simulate", *arguments).complaint


def test_a_wrong_platform_is_named_with_its_field(convene: Convene, platform: Path) -> None:
    wrong = json.loads(platform.read_text())
    wrong["network"]["node"]["bandwidth"] = -1
    platform.write_text(json.dumps(wrong))
    complaint = convene("simulate", "sweep", "allgather", "--platform", platform, "-p", 4).complaint
    assert complaint == f'{platform}: "network.node.bandwidth" must be a number above 0, not -1'


def test_an_interrupted_sweep_goes_on(
    convene: Convene, platform: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "run.json"
    part = tmp_path / "run.json.part"
    words = (
        "simulate",
        "sweep",
        "allgather",
        "--platform",
        platform,
        "-p",
        8,
        "--sizes",
        "8,64",
        "-o",
        output,
    )
    simulated: list[str] = []
    simulate = Case.simulate

    def simulate_some(case: Case, _on_part: object) -> Any:
        if case.spec == "sparbit" and not simulated.count("sparbit"):
            simulated.append(case.spec)
            raise KeyboardInterrupt
        simulated.append(case.spec)
        return simulate(case)

    monkeypatch.setattr(Case, "simulate", simulate_some)
    assert convene(*words, "--algorithms", "ring,bruck,sparbit").status == 130
    assert not output.exists()
    done = [json.loads(line)[0] for line in part.read_text().splitlines()]
    assert len(done) < 3
    part.write_text(part.read_text() + '["cut o')
    simulated.clear()
    simulated.append("sparbit")
    assert "add --resume to complete it" in convene(*words, "--algorithms", "ring").complaint
    assert convene(*words, "--algorithms", "ring,bruck,sparbit", "--resume").status == 0
    assert not part.exists()
    assert len(simulated) - 1 == 3 - len(done)
    resumed = json.loads(output.read_text())
    assert convene(*words, "--algorithms", "ring,bruck,sparbit").status == 0
    assert resumed == json.loads(output.read_text())


@pytest.mark.parametrize("text", ["my own notes\n", "my own\nnotes\n", '{"a": 1}\n["cut'])
@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_a_foreign_file_is_no_journal(
    convene: Convene, platform: Path, tmp_path: Path, text: str, resume: tuple[str, ...]
) -> None:
    output, part = tmp_path / "x.json", tmp_path / "x.json.part"
    output.write_text("{}")
    part.write_text(text)
    words = ("simulate", "sweep", "allgather", "-p", 4, "--platform", platform, "--sizes", 8, "-o", output)
    said = convene(*words, "--algorithms", "ring", *resume).complaint
    assert f"{part} does not consist of results of a simulation" in said
    assert output.read_text() == "{}"
    assert part.read_text() == text


def test_a_simulation_can_be_interrupted(platform: Path) -> None:
    """Within a simulation and between two; and later ones do not start."""
    has_begun = threading.Event()
    read = _core.SimulatedPlatform(platform.read_text(), str(platform))

    def simulate(runs: int) -> list[Any]:
        request = _core.SimulationRequest(
            collective="allgather", spec="ring", procs=16, sizes=[8.0], arrivals=[[0.0] * 16] * runs
        )
        return _core.simulate(request, read, on_run=has_begun.set)

    with ThreadPoolExecutor(1) as pool:
        endless = pool.submit(simulate, 1_000_000)
        assert has_begun.wait(60)
        _core.stop_simulations(stop=True)
        with pytest.raises(RuntimeError, match="interrupted"):
            endless.result(60)
    with pytest.raises(RuntimeError, match="interrupted"):
        simulate(1)
    _core.stop_simulations(stop=False)
    assert len(simulate(2)) == 2


class ManySimulations(Case):
    """Of which each ends soon, as in a skeleton or some studies."""

    def simulate(self, on_part: Callable[[], None] | None = None) -> list[list[Any]]:
        one = replace(self, arrivals=self.arrivals[:1])
        for _ in range(self.parts):
            Case.simulate(one, on_part)
        return []


@pytest.mark.parametrize("kind", [Case, ManySimulations])
def test_who_ends_a_sweep_ends_what_is_played(platform: Path, kind: type[Case]) -> None:
    machine = platforms.Platform(platform.read_text(), str(platform))
    endless = ((0.0,) * 16,) * 1_000_000
    cases = [kind("allgather", "ring", 16, (8,), machine, "sequential", endless)]
    received: list[tuple[int, int]] = []

    def stop(done: int, total: int, _work: float) -> None:
        received.append((done, total))
        if done == 3:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
    try:
        with pytest.raises(KeyboardInterrupt):
            sweeps.simulate_all(cases, stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert received[:3] == [(1, 1_000_000), (2, 1_000_000), (3, 1_000_000)]
    assert len(received) < 1_000_000
    assert Case.simulate(replace(cases[0], arrivals=endless[:1]))  # others are not stopped


def test_a_refused_request_is_not_in_the_way_of_the_right_one(
    convene: Convene, platform: Path, tmp_path: Path
) -> None:
    words = ("simulate", "sweep", "allgather", "--platform", platform, "-p", 4, "-o", tmp_path / "run.json")
    assert convene(*words, "--mapping", "spiral").status == 2
    assert convene(*words).status == 0


def test_what_was_done_counts_for_the_same_question_only(
    convene: Convene, platform: Path, tmp_path: Path
) -> None:
    case = Case(
        "allgather", "ring", 4, (8,), platforms.load_platform(str(platform)), "sequential", ((0.0,) * 4,)
    )
    journal = Journal(tmp_path / "run.json.part")
    journal.begin()
    journal.add(case, case.simulate())
    again = Journal(journal.path)
    again.read()
    assert Journal.key(case) in again.known
    for other in (replace(case, procs=5), replace(case, sizes=(9,)), replace(case, exact=True)):
        assert Journal.key(other) not in again.known


def test_too_many_processes_are_refused_before_anything_is_played(convene: Convene, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    words = ("--platform", "curie", "-p", 4096, "--algorithms", "binomial,ring", "--sizes", 8, "-o", kept)
    refused = convene("simulate", "sweep", "reduce", *words)
    assert "simulating ring on 4096 processes needs about 50327306 steps" in refused.complaint
    assert not kept.with_name("kept.json.part").exists()


def test_a_root_that_is_no_rank_is_refused_with_many_ranks_too(convene: Convene) -> None:
    words = ("simulate", "sweep", "gather", "--platform", "curie", "-p", 2048, "--root", 5000, "--sizes", 8)
    for more in ((), ("--algorithms", "binomial")):
        assert "is out of range (2048 processes)" in convene(*words, *more).complaint


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--platform", "yahoo"), "No such option: --platform"),
        (("--sizes", 8), "No such option: --sizes"),
        (("allgather",), "unexpected extra argument"),
        (("--figure", "/nowhere/x.svg"), "the directory /nowhere does not exist"),
        (("-p", 0), "-p 0 is out of range; give 1 to"),
        (("-p", 1), "needs at least two ranks"),
    ],
)
def test_a_study_refuses_what_it_settles_itself(
    convene: Convene, words: tuple[object, ...], sentence: str
) -> None:
    assert sentence in convene("simulate", "study", "forecast", *words).complaint


def test_resuming_needs_the_file(convene: Convene) -> None:
    assert "--resume needs -o" in convene("simulate", "study", "sparbit", "--resume").complaint
