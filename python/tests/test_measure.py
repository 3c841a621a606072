# SPDX-License-Identifier: BSD-3-Clause
"""convene measure: parameters from observations of machines that are known, and what the command says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convene import _core
from convene.model import curves, fit_checks, fit_taulop, fits, measured_series, measurement
from convene.model.measured_series import Curve, Observations

from .known_machine import SIZES, US, Machine, contended

Convene = Any
MakeLauncher = Callable[[str], Any]

OPEN_MPI = "mpirun (Open MPI) 5.0.11"


def fitted(machine: Machine) -> Any:
    return fits.fit(measured_series.whole(Observations.read(machine.raw())))["channels"]


def test_the_issue_cost_is_what_one_more_message_takes() -> None:
    raw = Machine().raw()
    for one in raw["series"]:
        if one["operation"] == "sends":
            number = one["messages"]
            for point in one["points"]:
                point["seconds"] = [(2 * US + 0.5 * US * number) / number] * len(point["seconds"])
    observations = Observations.read(raw)
    assert curves.issue_cost(measured_series.whole(observations), "memory") == pytest.approx(0.5 * US)
    low, high = fits.intervals(observations, resamples=5)["issue_cost.memory"]
    assert low == high == pytest.approx(0.5 * US)


def test_the_parameters_of_a_known_machine() -> None:
    found = fitted(Machine())["memory"]
    loggp = found["loggp"]
    assert loggp["o"] == pytest.approx(Machine.o)
    assert loggp["L"] == pytest.approx(Machine.L)
    assert loggp["g"] == pytest.approx(Machine.g)
    assert loggp["G"] == pytest.approx(Machine.G)
    assert loggp["S"] == Machine.threshold
    assert found["plogp"]["L"] == pytest.approx(Machine.L + 2 * Machine.o - Machine.g)
    assert found["plogp"]["g"].at(1024.0) == pytest.approx(Machine.g + 1023 * Machine.G)
    assert found["logfp"]["L"] == pytest.approx(Machine.L)
    assert (found["logfp"]["f"], found["logfp"]["g"]) == (1, pytest.approx(Machine.g, rel=1e-3))


def test_taulop_says_what_rings_and_round_trips_took() -> None:
    machine = Machine()
    found = fitted(machine)["memory"]["taulop"]
    for size in SIZES:
        assert found["o"] + 2 * found["L"][1].at(size) == pytest.approx(machine.single(size))
        assert found["o"] + 2 * found["L"][2].at(size) == pytest.approx(machine.ring(size, 2))
        for tau in (1, 2):
            assert found["L_c"][tau].at(size) == pytest.approx(2 * contended(tau, size))


def test_the_network_is_what_memory_does_not_explain() -> None:
    machine = Machine(nodes=2)
    found = fitted(machine)
    memory, network = found["memory"]["taulop"], found["network"]["taulop"]
    waiting = 2 * machine.single(0)
    assert list(network["o"].bytes) == [0, machine.threshold, machine.threshold]
    assert list(network["o"].times) == pytest.approx([machine.single(0), machine.single(0), waiting])
    # Here memory alone takes as long as the whole message: nothing is left for the network.
    assert network["L"][1].times[0] == 0
    assert np.all(np.diff(network["L"][2].times) >= 0)
    assert np.all(network["L"][2].times >= network["L"][1].times)
    assert memory["L"].keys() == network["L"].keys() == network["L_sr"].keys()
    assert "L_sr" not in memory
    largest = float(network["L_sr"][2].bytes[-1])
    whole = 1.5 * machine.ring(largest, 2) - waiting - 2 * float(memory["L"][2].at(largest))
    assert float(network["L_sr"][2].times[-1]) == pytest.approx(whole)


def test_exchanges_are_told_apart_where_each_node_has_one_rank() -> None:
    machine = Machine(nodes=4, ranks=1)
    found = measurement.platform(machine.raw(), measurement.Request(4), "known", 5)
    memory, network = found["model"]["channels"]
    assert (memory["name"], memory["within"], network["name"]) == ("memory", "node", "network")
    assert "L_sr" not in memory["taulop"]
    assert any("no two ranks shared a node" in sentence for sentence in found["assumed"])
    size = SIZES[-1]

    def predicted(algorithm: str) -> float:
        request = _core.ScheduleRequest(
            collective="allgather",
            spec=algorithm,
            procs=4,
            machine=found["machine"],
            placement="0,1,2,3",
        )
        (seconds,) = _core.predict(request, _core.ModelPlatform(json.dumps(found), "known"), "taulop", [size])
        return seconds

    # Three rounds one way, or two rounds of exchanges, of one and of two blocks; and a copy of the own.
    one_way = machine.single(size)
    assert predicted("ring") == pytest.approx(contended(1, size) + 3 * one_way, rel=1e-3)
    exchanges = 1.5 * (one_way + machine.single(2 * size))
    assert predicted("recursive_doubling") == pytest.approx(contended(1, size) + exchanges, rel=1e-3)


def test_free_messages_are_found() -> None:
    n = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32], dtype=float)
    times = 5 + np.maximum((n - 1) * 0.1, (n - 4) * 0.9)
    free, g = curves.free_messages(Curve(n, times * US), 0.1 * US)
    assert free == 4
    assert g == pytest.approx(0.9 * US, rel=1e-3)
    assert curves.free_messages(Curve(n, (5 + (n - 1) * 0.3) * US), 0.1 * US)[0] == 1


def test_collectives_are_equations_for_the_transfers() -> None:
    """Where a broadcast takes as long as its transfers say, nothing changes; where longer, L grows."""
    machine = Machine()
    plain = fitted(machine)["memory"]["taulop"]
    request = _core.ScheduleRequest(
        collective="bcast", spec="binomial", procs=4, machine="node:1 core:4", placement="sequential"
    )
    terms = _core.terms(request, None)
    assert sorted(terms) == [("L", 0, 1, 2.0), ("L", 0, 2, 2.0), ("o", 0, 1, 2.0)]

    def found(factor: float) -> Any:
        def time(size: float) -> float:
            transfers = [float(plain["L"][tau].at(size)) for tau in (1, 2)]
            return factor * 2 * float(plain["o"] + sum(transfers))

        raw = machine.raw()
        sizes = [1024, 65536]
        facts: dict[str, Any] = {"tau": 4, "algorithm": "bcast=binomial", "sizes": sizes}
        raw["series"].append(machine.series("collective", "all", time, **facts))
        observations = Observations.read(raw, {("bcast=binomial", 4): terms})
        return fits.fit(measured_series.whole(observations))["channels"]["memory"]["taulop"]["L"]

    for tau in (1, 2):
        assert found(1.0)[tau].times == pytest.approx(plain["L"][tau].times)
        ratio = found(1.3)[tau].at(65536.0) / plain["L"][tau].at(65536.0)
        assert 1.05 < ratio < 1.3


def test_combinations_of_known_transfers() -> None:
    assert fit_taulop.shares([1, 2, 4], 2) == {2: 1}
    assert fit_taulop.shares([1, 2, 4], 3) == {2: 0.5, 4: 0.5}
    assert fit_taulop.shares([1, 2, 4], 7) == {1: -1, 4: 2}
    assert fit_taulop.shares([1], 3) == {1: 1}


def test_curves_never_fall() -> None:
    curve = curves.nondecreasing(Curve(np.array([0.0, 1, 2, 3]), np.array([1.0, 3, 2, 4])))
    assert np.all(np.diff(curve.times) >= 0)
    assert curve.times[[0, 3]] == pytest.approx([1, 4])
    table = curves.ordered({1: curve, 2: Curve(curve.bytes, curve.times - 0.5)})
    assert np.all(table[2].times >= table[1].times)


def test_pooled_values_are_those_of_scipy() -> None:
    optimize = pytest.importorskip("scipy", minversion="1.12").optimize
    random = np.random.default_rng(3)
    for size in (1, 2, 3, 7, 64):
        values, weights = random.normal(np.arange(size) / 9, 1), random.uniform(0.1, 9, size)
        expected = optimize.isotonic_regression(values, weights=weights).x
        assert curves.isotonic(values, weights) == pytest.approx(expected, rel=1e-12)


def test_a_difference_near_nothing_does_not_spoil_its_neighbours() -> None:
    whole = np.array([10, 10.1, 11, 14, 17, 24, 60, 800]) * 1e-6
    spent = np.array([10, 10, 10, 10, 18, 18, 18, 18]) * 1e-6
    curve = Curve(np.geomspace(256.0, 32768.0, 8), whole - spent - 0.1e-6)
    found = curves.nondecreasing(curve, whole)
    assert np.all(np.diff(found.times) >= 0)
    assert np.all(np.abs(found.times - curve.times) < 0.3 * whole)


def test_kinks_are_found_where_the_protocol_changes() -> None:
    raw = Machine(noise=0.02).raw()
    (kink,) = [
        one for one in fit_checks.kinks(Observations.read(raw), "memory") if one.operation == "round_trip"
    ]
    assert (kink.below, kink.above) == (4096, 4608)


def test_intervals_hold_the_truth_and_narrow_with_more_rounds() -> None:
    widths = []
    for rounds in (8, 128):
        observations = Observations.read(Machine(noise=0.05, rounds=rounds).raw())
        low, high = fits.intervals(observations, resamples=60)["channels.memory.hockney.beta"]
        value = fits.fit(measured_series.whole(observations))["channels"]["memory"]["hockney"]["beta"]
        assert low[0] <= value <= high[0]
        widths.append(high[0] - low[0])
    assert 0 < widths[1] < widths[0]


@pytest.mark.parametrize("nodes", [1, 2])
def test_the_platform_is_one_that_predict_reads(nodes: int, tmp_path: Path, convene: Convene) -> None:
    machine = Machine(noise=0.05, nodes=nodes)
    request = measurement.Request(2 * nodes)
    platform = measurement.platform(machine.raw(), request, "known", resamples=20)
    facts = _core.ModelPlatform(json.dumps(platform), "known").facts()
    assert set(facts["models"]) == {*_core.models()}
    assert facts["machine"] == f"node:{nodes} core:2"
    assert "measured by convene" in facts["source"]
    low, high = (platform["measured"]["intervals"]["channels.memory.loggp.G"][end] for end in ("low", "high"))
    assert low <= platform["model"]["channels"][0]["loggp"]["G"] <= high
    file = tmp_path / "known.json"
    file.write_text(json.dumps(platform))
    found = convene(
        *("predict", "bcast", "-a", "binomial", "-p", 2, "--platform", file, "--machine", "node:1 core:2"),
        *("--bytes", "65536", "--json"),
    )
    # With noise that only adds, medians are a few per cent above the truth.
    seconds = found.json["algorithms"][0]["seconds"][0]
    assert 1 <= seconds / machine.single(65536) < 1.1
