# SPDX-License-Identifier: BSD-3-Clause
"""Measurement requests for the MPI program tools/bench.cpp."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from convene._core import RequestError

TYPES = ("byte", "int", "long", "float", "double")
OPERATIONS = ("sum", "max", "min")
DISTRIBUTIONS = ("regular", "broadcast", "spike", "half_full", "linear", "geometric")
CHECKS = ("every", "once", "never")
SYNCS = ("barrier", "window")
CACHES = ("hot", "rotating", "cold")
BALANCED = "none"  # the arrival pattern without late ranks
TRACE = "trace:"  # patterns that name a trace
MOST_WORD = 1 << 16  # characters; Linux limits a word of a command line to twice that
MOST_TEXT = 96 * 1024  # of all words: Open MPI 4 makes them one variable, with the same limit


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
    traces: Mapping[str, str] = field(default_factory=dict)  # texts by name; other names are files
    sync: str = "barrier"
    window: float = 200e-6  # seconds to the first deadline
    cache: str = "hot"
    footprint: bool = False  # also how much memory a communicator costs

    def traces_as_arguments(self) -> list[str]:
        """The traces that the arrival patterns name, as far as they are used: nodes need not share files.
        Nothing if they are too long for a command line; rank 0 then reads the files. Raises RequestError."""
        names = [each.removeprefix(TRACE) for each in self.arrivals if each.startswith(TRACE)]
        lines = [lines_of(self.traces.get(name) or read_trace(name)) for name in names]
        text = ";".join("/".join(each[: self.repetitions]) for each in lines)
        pieces = [text[at : at + MOST_WORD] for at in range(0, len(text), MOST_WORD)]
        return ["--traces", *pieces] if 0 < len(text) <= MOST_TEXT else []

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


def lines_of(trace: str) -> list[str]:
    """The lines of a trace without comments, values between commas."""
    values = (line.partition("#")[0].replace(",", " ").split() for line in trace.splitlines())
    return [",".join(each) for each in values if each]


def read_trace(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(
            f"the trace '{path}' cannot be read: {error}; check that it exists and is readable"
        ) from None


# Options of the program that have the same name in a request.
PASSED_ON = (
    *("repetitions", "least", "seconds", "precision", "batch", "group", "order", "check", "seed"),
    *("type", "op", "distribution", "root", "sync", "window", "cache"),
)
