# SPDX-License-Identifier: BSD-3-Clause
"""Measurement requests for the MPI program tools/bench.cpp."""

from dataclasses import dataclass

TYPES = ("byte", "int", "long", "float", "double")
OPERATIONS = ("sum", "max", "min")
DISTRIBUTIONS = ("regular", "broadcast", "spike", "half_full", "linear", "geometric")
CHECKS = ("every", "once", "never")
SYNCS = ("barrier", "window")
CACHES = ("hot", "cold")
BALANCED = "none"  # the arrival pattern without late ranks


@dataclass(frozen=True)
class Request:
    """What is to be measured. Contenders: algorithms of Convene's, native, mpi:NAME, intercepted."""

    collective: str
    procs: int
    sizes: list[int]
    contenders: list[str]
    repetitions: int = 50
    least: int = 10  # observations, where time or precision end it earlier
    seconds: float = 0.0  # for one size; 0: no limit
    precision: float = 0.0  # half the width of the medians' intervals, as a part of them; 0: no limit
    batch: float = 200e-6  # seconds that one observation should last
    group: int = 1  # number of adjacent contenders that are measured directly after each other
    order: str = "shuffled"
    check: str = "once"
    seed: int = 1
    type: str = "byte"
    op: str = "sum"
    distribution: str = "regular"
    root: int = 0
    rotate_root: bool = False  # the root of each call is the next rank
    arrivals: tuple[str, ...] = (BALANCED,)
    sync: str = "barrier"
    window: float = 200e-6  # seconds to the first deadline
    cache: str = "hot"
    footprint: bool = False  # also how much memory a communicator costs

    def arguments(self) -> list[str]:
        return [
            self.collective,
            *(["--sizes", ",".join(map(str, self.sizes))] if self.sizes else []),
            *(["--contenders", *self.contenders] if self.contenders else []),
            *(["--footprint"] if self.footprint else []),
            *(["--rotate-root"] if self.rotate_root else []),
            *("--arrivals", *self.arrivals),
            *(word for name in PASSED_ON for word in (f"--{name}", str(getattr(self, name)))),
        ]


# Options of the program that have the same name in a request.
PASSED_ON = (
    *("repetitions", "least", "seconds", "precision", "batch", "group", "order", "check", "seed"),
    *("type", "op", "distribution", "root", "sync", "window", "cache"),
)
