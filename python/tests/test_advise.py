# SPDX-License-Identifier: BSD-3-Clause
"""convene advise without MPI: call sites of recordings, results, rules files, proofs, tables."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convene import _core
from convene._core import RequestError
from convene.advise import advice, measured, proof, rules_file, sites, tables
from convene.advise.advice import Advice, Kind
from convene.advise.measured import WhatIf
from convene.advise.program import Recorded, without_count
from convene.advise.proof import Proof
from convene.advise.sites import CallSite, Signature
from convene.base import console
from convene.bench import requests
from convene.mpi.processes import RunError
from convene.run.profiles import Profiles
from convene.trace.recordings import Communicator, Recording, Site
from convene.tune import judge, stages
from convene.tune.judge import Verdict

from .conftest import Convene
from .test_tables import CheckTables


def recording(late: float, calls: int = 32, took: float = 1e-3) -> Recording:
    """An allgather of 4 ranks on 2 nodes; rank 3 is late. Earlier calls as many as these are lost."""
    starts = np.arange(calls)[:, None] * (late + 2 * took) + np.zeros((1, 4))
    arrivals = starts + np.array([0, 0, 0, late])
    exits = np.repeat(arrivals.max(axis=1, keepdims=True) + took, 4, axis=1)
    site = Site("allgather", -1, blocking=True, object="", offset=0, symbol="")
    communicator = Communicator(
        members=[0, 1, 2, 3],
        first=calls,
        arrivals=arrivals,
        exits=exits,
        sizes=np.full(calls, 64, np.uint64),
        sites=[site],
        site=np.zeros(calls, np.int64),
        algorithms=[("native", "default")],
        algorithm=np.zeros(calls, np.int64),
    )
    hosts = {0: "a", 1: "a", 2: "b", 3: "b"}
    return Recording([communicator], 4, 4, hosts, ["app"], lost=calls)


def recorded(late: float) -> Recorded:
    return Recorded(["mpirun", "-n", "4", "app"], "openmpi", 0, 1.0, Profiles(), recording(late))


def test_waiting_is_kept_apart_from_communicating() -> None:
    (site,) = sites.find(recording(late=5e-3))
    assert site.signature == Signature("allgather", (0, 0, 1, 1), 7)
    assert (site.signature.procs, site.signature.nodes, site.signature.ranks_per_node) == (4, 2, 2)
    assert site.calls == 64  # with the lost ones
    assert site.communicating == pytest.approx(64 * 1e-3)
    assert site.waiting == pytest.approx(64 * 5e-3 * 3 / 4)
    assert site.imbalance == pytest.approx(5e-3)
    assert site.sizes == [64]
    assert sites.trace_of(site.lateness).splitlines()[0].split()[3] == "5000us"


def test_a_rank_that_loses_its_core_is_no_communication() -> None:
    found = recording(late=0)
    found.communicators[0].exits[3, 2] += 0.5
    (site,) = sites.find(found)
    assert site.communicating == pytest.approx(64 * 1e-3)
    assert site.inside > 64 * 1e-3 + 0.1


def test_methods_are_like_the_calls() -> None:
    (balanced,) = sites.find(recording(late=0))
    assert measured.methods(balanced) == ["together", "apart"]
    (late,) = sites.find(recording(late=5e-3))
    assert measured.methods(late) == ["apart", "arrivals"]
    (between,) = sites.find(recording(late=5e-4))
    assert measured.methods(between) == ["together", "apart", "arrivals"]
    rooted = CallSite("", Signature("bcast", (0, 0), 7), blocking=True, within_group=True, roots={0, 1})
    assert measured.methods(rooted)[0] == "rotating"


def verdict(ratio: float, spec: str = "ring") -> Verdict:
    random = np.random.default_rng(1)
    native = 1e-5 * (1 + 0.02 * random.standard_normal(60))
    other = ratio * 1e-5 * (1 + 0.02 * random.standard_normal(60))
    return Verdict(spec, {"together": judge.judge(other, native), "apart": judge.judge(other, native)})


def times(native: float, ring: float) -> dict[str, np.ndarray]:
    return {"native": np.full(60, native), "ring": np.full(60, ring)}


# By method and size.
TIMES = {
    "together": {64: times(10e-6, 8e-6), 127: times(10e-6, 8e-6)},
    "apart": {64: times(10e-6, 7e-6), 127: times(12e-6, 9e-6)},
}


def site_of(collective: str = "allgather", **given: Any) -> CallSite:
    numbers: dict[str, Any] = {
        "calls": 100.0,
        "calls_per_rank": 100.0,
        "least": 64,
        "most": 64,
        "inside": 0.3,
        "waiting": 0.2,
    }
    numbers |= given
    numbers["communicating"] = numbers["inside"] - numbers["waiting"]
    signature = Signature(collective, (0, 0, 0, 0), 7)
    return CallSite("main (late.c:42)", signature, blocking=True, within_group=True, **numbers)


def test_a_winner_wins_at_all_sizes_by_each_method() -> None:
    wins = measured.decide(site_of(), ["ring"], {64: [verdict(0.7)], 127: [verdict(0.8)]}, TIMES)
    assert wins.winner == "ring"
    assert wins.ratio == pytest.approx(0.8, abs=0.02)
    assert measured.decide(site_of(), ["ring"], {64: [verdict(0.7)], 127: [verdict(1.1)]}, TIMES).winner == ""
    assert measured.decide(site_of(), ["ring"], {}, TIMES).winner == ""


def test_reductions_need_more_evidence() -> None:
    found = {64: [verdict(0.93)]}
    assert measured.decide(site_of(), ["ring"], found, TIMES).winner == "ring"
    assert measured.decide(site_of("allreduce"), ["ring"], found, TIMES).winner == ""


def test_a_saving_is_no_more_than_measured_calls_save() -> None:
    assert measured.saved_per_call("ring", TIMES) == pytest.approx(2e-6)
    slow = result_saves(inside=0.5, waiting=0.1, saved=2e-4)
    assert slow == pytest.approx(100 * 2e-4)  # 30 % of the communication would be 0.12 s


def result_saves(saved: float, **given: Any) -> float:
    return Advice(site_of(**given), Kind.GAIN, 1.0, replace(GAIN, saved=saved)).saves


def test_the_model_leaves_few_candidates() -> None:
    found = measured.candidates(site_of())
    assert 0 < len(found) <= measured.MODELLED + 2
    assert set(found) <= set(_core.prior("allgather", [0, 0, 0, 0], 64, 100))
    assert "recursive_doubling" not in _core.prior("allgather", [0, 0, 1], 64, 100)


def test_arrivals_are_part_of_the_request() -> None:
    """Nodes need not share files."""
    site = replace(site_of(), lateness=np.array([[0.0, 1.5, 0.001, 0.0]]))
    request = measured.template(site, ["native", "ring"], 10, 1.0)
    arrived = measured.by_method(request, measured.AS_ARRIVED, site)
    assert arrived.arrivals == ("trace:arrivals",)
    assert arrived.traces_as_arguments() == ["--traces", "0us,20000us,1000us,0us"]  # at most LATEST
    assert measured.by_method(request, stages.TOGETHER, site).traces_as_arguments() == []


def test_arrivals_of_many_ranks_fit_a_command_line() -> None:
    many = np.full((64, 1000), 0.02)
    many[-1] = 0.01
    text = sites.trace_of(many)
    assert len(text) <= requests.MOST_TEXT
    assert len(text.splitlines()) == 12
    assert text.splitlines()[-1].startswith("10000us ")
    assert len(sites.trace_of(many[:, :100]).splitlines()) == 64
    assert len(sites.trace_of(np.full((64, sites.MOST_RANKS), 0.02))) <= requests.MOST_TEXT


def result(site: CallSite, what_if: WhatIf | str, monkeypatch: pytest.MonkeyPatch) -> Advice:
    def measure(*_: Any) -> WhatIf:
        if isinstance(what_if, str):
            raise RunError(what_if)
        return what_if

    monkeypatch.setattr(measured, "measure", measure)
    setting: Any = None
    (found,) = advice.advise(recorded(0), [site], setting, 60.0, lambda done, total: None)
    return found


GAIN = WhatIf(["ring"], {64: [verdict(0.7)]}, "ring", 0.7, 0.72, saved=1e-3)
FASTER = replace(GAIN, saved=1e-5)  # than the calls of the program, which lost their cores


@pytest.mark.parametrize(
    ("given", "what_if", "kind"),
    [
        ({}, GAIN, Kind.GAIN),
        ({"inside": 0.003, "waiting": 0.0}, GAIN, Kind.SMALL),
        ({"inside": 0.003, "waiting": 0.002}, GAIN, Kind.SMALL),
        ({"inside": 0.5, "waiting": 0.499}, GAIN, Kind.IMBALANCE),
        ({"inside": 0.5, "waiting": 0.4}, WhatIf(["ring"], {}), Kind.IMBALANCE),
        ({"inside": 0.5, "waiting": 0.1}, WhatIf(["ring"], {}), Kind.NATIVE),
        ({"inside": 0.5, "waiting": 0.4}, FASTER, Kind.IMBALANCE),
        ({"least": 0, "most": 0}, GAIN, Kind.UNKNOWN_SIZE),
        ({}, WhatIf([], {}), Kind.NO_CANDIDATE),
        ({}, WhatIf(["ring"], {}, layout_differs=True), Kind.LAYOUT),
        ({}, "failed", Kind.NOT_MEASURED),
    ],
)
def test_results(
    given: dict[str, Any], what_if: WhatIf | str, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = result(site_of(**given), what_if, monkeypatch)
    assert found.kind is kind
    # 0.1 s of 1 s communicates, and 30 % of that are saved.
    assert found.saves == (pytest.approx(0.03) if kind is Kind.GAIN else 0)
    if kind is Kind.NOT_MEASURED:
        assert found.text().startswith("not measured: failed; predicted: ")


def test_rules_apply_to_non_blocking_calls_of_the_same_signature_too() -> None:
    started = site_of(inside=1e-4, waiting=0.0)
    started.blocking = False
    setting: Any = None
    found = advice.advise(recorded(0), [site_of(), started], setting, 60.0, lambda done, total: None)
    assert {each.kind for each in found} == {Kind.NON_BLOCKING, Kind.SMALL}


def test_a_small_budget_leaves_a_prediction() -> None:
    setting: Any = None
    (found,) = advice.advise(recorded(0), [site_of()], setting, 0.0, lambda done, total: None)
    assert found.kind is Kind.NOT_MEASURED
    assert found.predicted == measured.candidates(site_of())[0]


def gains() -> list[Advice]:
    other = site_of("allreduce", inside=0.4, waiting=0.01)
    return [Advice(site_of(), Kind.GAIN, 1.0, GAIN), Advice(other, Kind.NATIVE, 1.0, WhatIf(["ring"], {}))]


def test_rules_have_their_evidence(tmp_path: Path) -> None:
    path = tmp_path / "advise.rules"
    rules_file.write(path, gains(), ["mpirun", "./app"], "Open MPI 4.1.4")
    _core.rules(str(path))  # as the library reads them
    written = json.loads(path.read_text())
    assert written["comment"].startswith("convene advise")
    assert written["comment"].endswith("Open MPI 4.1.4: mpirun ./app")
    (rule,) = written["rules"]
    assert (rule["collective"], rule["procs"], rule["nodes"], rule["bytes"]) == ("allgather", 4, 1, [64, 64])
    assert rule["use"] == "ring"
    assert any("together" in line and "of native" in line for line in rule["comment"])
    rules_file.write(path, gains(), ["mpirun", "./app"], "Open MPI 4.1.4")  # its own file is replaced


@pytest.mark.parametrize("text", ["int main() {}", '{"convene_rules": 1, "rules": []}', "[]"])
def test_other_files_are_never_overwritten(tmp_path: Path, text: str, convene: Convene) -> None:
    path = tmp_path / "advise.rules"
    path.write_text(text)
    with pytest.raises(RequestError, match="is not a rules file of convene advise"):
        rules_file.check(path)
    done = convene("advise", "-o", path, "--", "mpirun", "true")
    assert "is not a rules file of convene advise" in done.complaint
    assert path.read_text() == text


def test_wrong_requests(convene: Convene, tmp_path: Path) -> None:
    assert "is not a launcher" in convene("advise", "--", "true").complaint
    assert "does not exist" in convene("advise", "-o", tmp_path / "no" / "file", "--", "mpirun").complaint
    assert "--budget" in convene("advise", "--budget", "soon", "--", "mpirun", "true").complaint


def test_the_number_of_ranks_is_not_an_option_of_measurements() -> None:
    given = ["-n", "4", "--mca", "btl", "self", "-np", "8", "--ntasks=3", "--hostfile", "hosts"]
    assert without_count(given) == ["--mca", "btl", "self", "--hostfile", "hosts"]


def test_a_proof_is_more_than_noise() -> None:
    assert Proof([2.0], [1.0], recorded=2.1).is_shown
    assert not Proof([2.0], [1.0], recorded=3.5).is_shown
    assert not Proof([2.0], [1.99], recorded=2.1).is_shown
    assert "within noise" in Proof([2.0], [1.99], recorded=2.1).sentence()
    random = np.random.default_rng(1)

    def runs(seconds: float) -> list[float]:
        return list(seconds * (1 + 0.01 * random.standard_normal(10)))

    assert sum(Proof(runs(1.0), runs(1.0)).is_shown for _ in range(200)) <= 6
    assert sum(Proof(runs(1.0), runs(0.9)).is_shown for _ in range(50)) == 50
    assert not Proof([1.0] * 7, [0.9] * 6 + [1.1]).is_shown  # six of seven pairs may be chance
    assert Proof([1.0] * 7, [0.9] * 7).is_shown
    assert "save 1" in Proof(runs(1.0), runs(0.9)).sentence()
    assert not Proof([2.0], [1.0], failure="a run ended").is_shown
    assert [proof.pairs_of(seconds, 120.0) for seconds in (1.0, 20.0, 1000.0)] == [10, 3, 1]


def test_the_table_fits(check_tables: CheckTables, capfd: pytest.CaptureFixture[str]) -> None:
    small = Advice(site_of("bcast", inside=1e-5, waiting=0.0), Kind.SMALL, 1.0)
    lacking = Advice(
        site_of("alltoall"), Kind.NOT_MEASURED, 1.0, why="the budget is too small", predicted="ring"
    )

    def show() -> str:
        capfd.readouterr()
        console.make().print(tables.table([*gains(), small, lacking], 1.0), markup=False)
        return capfd.readouterr().out

    check_tables(show, "collective", "advice", "communicating", "allgather", "late.c:42")


def test_sentences() -> None:
    assert tables.sentences(gains()) == [
        "allgather at late.c:42: ring, 0.70 of native (measured), saves 3 % of the program (predicted)"
    ]
    late = Advice(site_of(inside=0.5, waiting=0.499), Kind.IMBALANCE, 1.0)
    assert "ranks wait for late ones" in tables.sentences([late])[0]
    assert len(tables.sentences([*gains(), late])) == 2
    assert "late ranks; convene trace" in tables.sentences([*gains(), late])[1]
    assert tables.short("(MPI.openmpi.cpython-311-x86_64-linux-gnu.so+0x10)") == "(MPI.openmpi.so+0x10)"
    assert "10 % communicating" in tables.overview(recorded(0), gains()[:1])


def test_help_has_examples(convene: Convene) -> None:
    assert "convene advise -- mpirun -n 8 ./app" in convene("advise", "--help").out
