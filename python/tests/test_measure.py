# SPDX-License-Identifier: BSD-3-Clause
"""convene measure: parameters from observations of machines that are known, and what the command says."""

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convene import _core
from convene.base import paths
from convene.model import curves, fit_checks, fit_taulop, fits, measured_series, measurement
from convene.model.measured_series import Curve, Observations
from convene.model.platform_types import Observed, SeriesJson

Convene = Any
MakeLauncher = Callable[[str], Any]

OPEN_MPI = "mpirun (Open MPI) 5.0.11"

SIZES = [0, 1, 64, 1024, 4096, 4608, 16384, 65536]
US = 1e-6


def contended(tau: int, size: float) -> float:
    """Seconds of a copy beside τ - 1 others."""
    return (size + 1) * 1e-10 * tau


class Machine:
    """A machine that keeps to LogGP between two ranks, and to τ-Lop where more of them send."""

    L, o, g, G = 1.0 * US, 0.2 * US, 0.5 * US, 0.0004 * US
    threshold = 4500
    late = 3 * US  # what messages from the threshold on take longer

    def __init__(self, noise: float = 0.0, rounds: int = 12, nodes: int = 1, ranks: int = 2) -> None:
        self.random, self.noise, self.rounds, self.nodes = np.random.default_rng(7), noise, rounds, nodes
        self.ranks = ranks  # of a node: 1 or 2

    def single(self, size: float) -> float:
        return (
            self.L + 2 * self.o + max(0.0, size - 1) * self.G + (self.late if size >= self.threshold else 0)
        )

    def ring(self, size: float, tau: int) -> float:
        return self.single(size) * (1 + (tau - 1) / 2)

    def burst(self, messages: int, delay: float, size: float) -> float:
        gap = self.g + (size - 1) * self.G
        return 2 * self.single(size) + (messages - 1) * max(self.o + delay, gap)

    def series(
        self, operation: str, channel: str, time: Callable[[float], float], **facts: Any
    ) -> SeriesJson:
        sizes = facts.pop("sizes", SIZES)
        delay = facts.pop("delay", 0.0)
        return {
            "operation": operation,
            "channel": channel,
            "tau": facts.get("tau", 1),
            "messages": facts.get("messages", 1),
            "algorithm": facts.get("algorithm", ""),
            "points": [
                {
                    "bytes": size,
                    "calls": 1,
                    "delay": delay,
                    "seconds": list(
                        time(size) * (1 + self.noise * self.random.exponential(size=self.rounds))
                    ),
                }
                for size in sizes
            ],
        }

    def exchange(self, name: str, tau: int) -> SeriesJson:
        return self.series("exchange", name, lambda size: 1.5 * self.ring(size, tau), tau=tau)

    def shared(self, tau: int) -> SeriesJson:
        return self.series("shared", "memory", lambda size: 2 * contended(tau, size), tau=tau)

    def channel(self, name: str) -> list[SeriesJson]:
        side = "ring" if name == "memory" else "cross"
        found = [
            self.series("round_trip", name, lambda size: 2 * self.single(size)),
            self.series(side, name, lambda size: self.ring(size, 2), tau=2),
            *(self.exchange(name, tau) for tau in (1, 2) if name == "network"),
            *(self.shared(tau) for tau in (1, 2) if name == "memory"),
            self.series("synchronous", name, lambda _: 2 * self.single(0), sizes=[0]),
            self.series("send", name, lambda _: self.o),
            self.series("receive", name, lambda _: self.o),
            self.series("burst", name, lambda size: self.burst(16, 0, size), messages=16, sizes=SIZES[1:]),
            self.series(
                "burst", name, lambda size: self.burst(16, 9 * US, size), messages=16, delay=9 * US, sizes=[1]
            ),
        ]
        for number in (1, 2, 4, 8):
            facts: dict[str, Any] = {"messages": number, "sizes": [1]}
            found += [
                self.series("burst", name, functools.partial(self.burst, number, 0.0), **facts),
                self.series("sends", name, lambda _: self.o, **facts),
                self.series("receives", name, lambda _: self.o, **facts),
            ]
        return found

    def raw(self) -> Observed:
        names = ["memory", "network"][: self.nodes] if self.ranks > 1 else ["network"]
        local = [
            self.series(what, "local", functools.partial(contended, tau), tau=tau)
            for what in ("copy", "combine")
            for tau in (1, 2)
        ]
        local.append(self.series("packing", "local", lambda size: 3 * contended(1, size)))
        return {
            "format": 1,
            "procs": self.ranks * self.nodes,
            "stack": "openmpi",
            "nodes": [node for node in range(self.nodes) for _ in range(self.ranks)],
            "environment": {
                "mpi": "Some MPI 1.0",
                "processor": "Some CPU",
                "cores": 64,
                "hosts": ["here"],
                "started": "2026-01-01T00:00:00Z",
            },
            "command": ["mpirun"],
            "variables": {},
            "protocols": dict.fromkeys(names, self.threshold),
            "series": [one for name in names for one in self.channel(name)] + local,
        }


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


PROGRAM = """#!{python}
import os, shutil, sys

if os.environ["RANK"] == "0":
    print("progress 1 2")
    shutil.copy({raw!r}, sys.argv[sys.argv.index("--output") + 1])
if {said!r}:
    print({said!r}, file=sys.stderr)
sys.exit({status})
"""


@pytest.fixture
def make_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a program that has measured before where the command looks for it."""

    def make(raw: Observed | None = None, status: int = 0, said: str = "") -> None:
        file = tmp_path / "raw.json"
        file.write_text(json.dumps(raw or Machine(noise=0.05).raw()))
        for tool in ("bench", "run", "measure"):
            program = tmp_path / f"convene-{tool}-openmpi"
            program.write_text(PROGRAM.format(python=sys.executable, raw=str(file), status=status, said=said))
            program.chmod(0o755)
        monkeypatch.setattr(paths, "PROGRAMS", (tmp_path,))

    return make


def test_a_table_a_file_and_pictures(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None], tmp_path: Path
) -> None:
    make_program()
    launcher, output, plots = make_launcher(OPEN_MPI), tmp_path / "here.json", tmp_path / "plots"
    plots.mkdir()
    done = convene(
        *("measure", "-n", 2, "--launcher", launcher, "-o", output, "--plots", plots, "--quick"),
        *("--raw", tmp_path / "all.json"),
    )
    assert done.status == 0, done
    assert "here: Some CPU, Some MPI 1.0" in done.out
    assert "memory: a sender waits for its receiver from 4.39 KiB on" in done.out
    assert "between 4 KiB and 4.5 KiB a round_trip jumps" in done.out
    lines = [line.split() for line in done.out.splitlines()]
    assert next(line for line in lines if line[:1] == ["G"])[2:4] >= ["0"]
    assert json.loads(output.read_text())["name"] == "here"
    assert json.loads((tmp_path / "all.json").read_text())["procs"] == 2
    assert {path.name for path in plots.iterdir()} >= {"memory-messages.svg", "memory-transfers.svg"}
    words = launcher.received["arguments"]
    assert words[words.index("--largest") + 1] == str(1 << 20)
    assert done.err == ""


def test_too_many_ranks_are_said(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    raw = Machine().raw()
    raw["environment"]["cores"] = 1
    make_program(raw)
    done = convene("measure", "-n", 2, "--launcher", make_launcher(OPEN_MPI), "--json")
    assert done.status == 0
    assert done.json["measured"]["ranks"] == 2
    assert "2 ranks shared 1 cores" in done.err


def test_what_the_program_says(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program(status=1, said="convene-measure: MPI_Send failed")
    done = convene("measure", "-n", 2, "--launcher", make_launcher(OPEN_MPI))
    assert (done.status, done.err) == (1, "convene: MPI_Send failed\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-n", 1], "-n 1 is out of range; give 2 to 4096 ranks"),
        (["-n", 2, "-o", "here.txt"], "-o here.txt must end in .json"),
        (
            ["-n", 2, "--plots", "/no/such"],
            "cannot create the directory --plots /no/such: No such file or directory",
        ),
        (["-n", 2, "--fit-to", "binomial"], "invalid --fit-to 'binomial'; give COLLECTIVE=ALGORITHM"),
        (
            ["-n", 3, "--fit-to", "allgather=recursive_doubling"],
            "needs a number of processes that is a power",
        ),
        (["-n", 2, "--largest", "8"], "--largest 8 is out of range; give 64 bytes to 1 GiB"),
    ],
)
def test_wrong_requests(convene: Convene, words: list[Any], sentence: str) -> None:
    assert sentence in convene("measure", *words).complaint
