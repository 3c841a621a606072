# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of the models on a simulated platform, measured as in chapter 7 of the τ-Lop thesis.

LogGPH has the parameters of table 7.2, from which the simulated platform is made. The others are measured in
simulation: m·log_nP takes whole messages, as time of the processor. τ-Lop takes o from messages without
bytes, L⁰(m, 1) from a message, and L(m, τ) from Ring_τ, in which τ ranks of a node (or of each of two nodes)
send and receive at a time: Ring⁰_τ = o⁰ + 2L⁰(m, τ) (7.4), Ring¹_τ = o¹ + 2L⁰(m, τ) + L¹(m, τ) (7.6). A round
of an allgather in a ring, without its local copy, is such an operation."""

import json
from dataclasses import dataclass

from convene import _core
from convene.model import platform_files
from convene.simulate.cases import Case
from convene.simulate.platforms import Platform
from convene.studies.simulated import Simulate, balanced

KIB = 1024
SIZES = tuple(KIB * 4**power for power in range(8))  # 1 KiB … 16 MiB
LEAST = 1  # stands for a message without bytes, which the simulator omits


@dataclass(frozen=True)
class Site:
    """A platform of the source: its ranks, and those of a node as the models see it."""

    name: str
    platform: Platform
    cores: int  # ranks that share a memory
    nodes: int

    @property
    def machine(self) -> str:
        return f"node:{self.nodes} core:{self.cores}"

    def case(
        self, collective: str, spec: str, procs: int, sizes: tuple[int, ...], mapping: str = "sequential"
    ) -> Case:
        return Case(collective, spec, procs, sizes, self.platform, mapping, balanced(procs))


def alternating(procs: int) -> str:
    """Ranks on two nodes in turn: every message of a ring crosses the network."""
    return ",".join(str(rank % 2) for rank in range(procs))


def taus(most: int) -> list[int]:
    return [tau for tau in (2**power for power in range(1, 8)) if tau <= most]


Curve = list[tuple[int, float]]
ByTau = dict[int, Curve]


def rising(curve: Curve, least: Curve | None = None) -> Curve:
    """Without decreases in m, and nowhere below the curve of the τ before."""
    result: Curve = []
    for i, (size, value) in enumerate(curve):
        floor = max(result[-1][1] if result else 0.0, least[i][1] if least else 0.0)
        result.append((size, max(value, floor)))
    return result


@dataclass
class Measured:
    """Times of messages and of Ring_τ, in seconds by size."""

    memory: Curve
    memory_ring: ByTau
    network: Curve | None
    network_ring: ByTau


def measure(simulate: Simulate, site: Site) -> Measured:
    sizes = (LEAST, *SIZES)
    within, across = taus(site.cores), [1, *taus(site.cores)] if site.nodes > 1 else []
    cases = [site.case("allgather", "ring", 1, sizes), site.case("bcast", "linear", 2, sizes)]
    cases += [site.case("allgather", "ring", tau, sizes) for tau in within]
    cases += [site.case("bcast", "linear", 2, sizes, "0,1")] if across else []
    cases += [site.case("allgather", "ring", 2 * tau, sizes, alternating(2 * tau)) for tau in across]
    copy, *runs = [[run[0]["seconds"] for run in found] for found in simulate(cases)]
    curves: list[Curve] = []
    for case, times in zip(cases[1:], runs, strict=True):
        local = copy if case.collective == "allgather" else [0.0] * len(copy)
        rounds = case.procs - 1
        per_round = [(time - own) / rounds for time, own in zip(times, local, strict=True)]
        curves.append(list(zip((0, *SIZES), per_round, strict=True)))
    memory, *rings = curves
    rest = rings[len(within) :]
    return Measured(
        memory,
        dict(zip(within, rings[: len(within)], strict=True)),
        rest[0] if rest else None,
        dict(zip(across, rest[1:], strict=True)),
    )


def minus(curve: Curve, *others: Curve, factor: float = 1.0) -> Curve:
    """(curve - the others) * factor, at least 0."""
    return [
        (size, max(0.0, factor * (value - sum(other[i][1] for other in others))))
        for i, (size, value) in enumerate(curve)
    ]


def overhead_of(message: Curve) -> Curve:
    """o: the time of a message without bytes (RTT(0)/2), for all sizes."""
    return [(size, message[0][1]) for size, _ in message]


def transfers_of_memory(found: Measured) -> ByTau:
    overhead = overhead_of(found.memory)
    table = {1: rising(minus(found.memory, overhead, factor=0.5))}
    before = table[1]
    for tau, ring in found.memory_ring.items():
        before = table[tau] = rising(minus(ring, overhead, factor=0.5), before)
    return table


def transfers_of_network(found: Measured, memory: ByTau) -> ByTau:
    assert found.network is not None
    overhead = overhead_of(found.network)
    table: ByTau = {}
    before: Curve | None = None
    for tau, ring in found.network_ring.items():
        before = table[tau] = rising(minus(ring, overhead, memory[tau], memory[tau]), before)
    return table


def text_of(table: ByTau) -> dict[str, Curve]:
    return {str(tau): curve for tau, curve in table.items()}


def calibrate(site: Site, found: Measured) -> _core.ModelPlatform:
    """The platform of the models."""
    source = json.loads(platform_files.FOLDER.joinpath(f"{site.name}.json").read_text(encoding="utf-8"))
    channels = source["model"]["channels"]
    memory = transfers_of_memory(found)
    half = [(size, value / 2) for size, value in found.memory]
    channels[0]["lognp"] = {"transfers": [in_us(half), in_us(half)]}
    channels[0]["taulop"] = {
        "o": in_us(found.memory[:1])[0][1],
        "transport": "copy_in_copy_out",
        "L": {tau: in_us(curve) for tau, curve in text_of(memory).items()},
    }
    if found.network:
        channels[1]["lognp"] = {"transfers": [in_us(found.network), 0, 0]}  # the processor's
        channels[1]["taulop"] = {
            "o": in_us(found.network[:1])[0][1],
            "transport": "copies",
            "L": {tau: in_us(curve) for tau, curve in text_of(transfers_of_network(found, memory)).items()},
        }
    combine = json.loads(site.platform.text)["processor"]["combine"]
    source["model"]["computation"] = {"fixed": 0, "per_byte": combine * 1e6}
    source["machine"] = site.machine
    return _core.ModelPlatform(json.dumps(source), f"{site.name}, measured in simulation")


def in_us(curve: Curve) -> Curve:
    return [(size, value * 1e6) for size, value in curve]
