# SPDX-License-Identifier: BSD-3-Clause
"""A machine with known parameters, and what measurements of it give."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from convene.model.platform_types import Observed, SeriesJson

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
