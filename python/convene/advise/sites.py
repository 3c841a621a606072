# SPDX-License-Identifier: BSD-3-Clause
"""Call sites of a recorded program: what they call, how long that takes, and how much of it is waiting.

Times are means over the ranks of the program. Waiting is the time in a call before its last rank arrived.
Communication, which depends on the algorithm, is the median of the time after that times the number of calls:
calls in which a rank lost its core do not count for it.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from convene.base.result_types import Json
from convene.bench.requests import MOST_TEXT
from convene.stats.arrivals import Array
from convene.trace import call_sites, lateness
from convene.trace.lateness import Calls
from convene.trace.recordings import Communicator, Recording, Site

MOST_RANKS = MOST_TEXT // len("20000us,")  # whose arrivals fit a command line
INTERCOMMUNICATOR = "intercommunicator"
MOST_KEPT = 64  # calls whose arrivals are kept, evenly spaced
LATEST = 0.02  # seconds: who arrives later than this is measured as if it arrived then


@dataclass(frozen=True)
class Signature:
    """What a rule can tell apart: collective, communicator, and class of block sizes."""

    collective: str
    layout: tuple[int, ...]  # the node of each member, numbered in order of appearance
    size_class: int

    @property
    def procs(self) -> int:
        return len(self.layout)

    @property
    def nodes(self) -> int:
        return len(set(self.layout))

    @property
    def ranks_per_node(self) -> int:
        return max(Counter(self.layout).values())


@dataclass
class CallSite:
    """Calls of one signature from one place."""

    place: str
    signature: Signature
    blocking: bool
    within_group: bool  # False: on an intercommunicator
    calls: float = 0.0
    calls_per_rank: float = 0.0  # mean over the ranks of the program
    least: int = 1 << 62  # bytes per block
    most: int = 0
    roots: set[int] = field(default_factory=set)
    inside: float = 0.0  # seconds, mean over the ranks of the program
    waiting: float = 0.0
    communicating: float = 0.0
    lateness: Array = field(default_factory=lambda: np.empty((0, 0)))  # (calls, members), some calls

    @property
    def per_call(self) -> float:
        """Seconds of communication in one call."""
        return self.communicating / max(self.calls, 1.0)

    @property
    def imbalance(self) -> float:
        """Median of the time between the first and the last arrival."""
        return float(np.median(self.lateness.max(axis=1))) if self.lateness.size else 0.0

    @property
    def sizes(self) -> list[int]:
        return sorted({self.least, self.most})

    @property
    def title(self) -> str:
        return f"{self.signature.collective} at {self.place}"

    def as_json(self) -> Json:
        signature = self.signature
        return {
            "site": self.place,
            "collective": signature.collective,
            "procs": signature.procs,
            "nodes": signature.nodes,
            "ranks_per_node": signature.ranks_per_node,
            "bytes": [self.least, self.most],
            "blocking": self.blocking,
            "calls": self.calls,
            "seconds": self.inside,
            "waiting_seconds": self.waiting,
            "communicating_seconds": self.communicating,
            "imbalance_median": self.imbalance,
        }


def find(recording: Recording) -> list[CallSite]:
    """All call sites, those with the most communication first."""
    used = dict.fromkeys(
        communicator.sites[i]
        for communicator in recording.communicators
        for i in np.unique(communicator.site)
    )
    places = call_sites.names(used)
    found: dict[tuple[object, ...], CallSite] = {}
    late: dict[tuple[object, ...], list[Array]] = defaultdict(list)
    for communicator in recording.communicators:
        # A recording keeps the latest calls; the ones before are taken to be like them.
        scale = (communicator.first + len(communicator.arrivals)) / len(communicator.arrivals)
        for calls in lateness.split(communicator, places):
            add(found, late, calls, scale, recording)
        add_roots(found, communicator, places)
    for key, parts in late.items():
        found[key].lateness = sample(np.concatenate(parts))
    return sorted(found.values(), key=lambda site: -site.communicating)


def layout_of(members: tuple[int, ...], hosts: dict[int, str]) -> tuple[int, ...]:
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(hosts.get(rank, ""), len(numbers)) for rank in members)


def key_of(calls: Calls, layout: tuple[int, ...]) -> tuple[object, ...]:
    kind = calls.kind
    return (
        kind.place,
        kind.collective,
        kind.blocking,
        kind.reason == INTERCOMMUNICATOR,
        kind.size_class,
        layout,
    )


def add(
    found: dict[tuple[object, ...], CallSite],
    late: dict[tuple[object, ...], list[Array]],
    calls: Calls,
    scale: float,
    recording: Recording,
) -> None:
    kind = calls.kind
    layout = layout_of(kind.members, recording.hosts)
    key = key_of(calls, layout)
    site = found.setdefault(
        key,
        CallSite(
            kind.place,
            Signature(kind.collective, layout, kind.size_class),
            kind.blocking,
            kind.reason != INTERCOMMUNICATOR,
        ),
    )
    site.calls += scale * len(calls)
    site.least = min(site.least, int(calls.sizes.min()))
    site.most = max(site.most, int(calls.sizes.max()))
    ranks = max(recording.procs, 1)
    called = scale * len(calls) * len(kind.members) / ranks
    site.calls_per_rank += called
    site.inside += scale * float(np.nansum(calls.exits - calls.arrivals)) / ranks
    site.waiting += scale * float(calls.waiting.sum()) / ranks
    if kind.blocking:
        after = calls.exits - calls.arrivals - calls.waiting
        mean = np.nan_to_num(np.nanmean(after, axis=1)) if not np.isnan(after).all() else np.zeros(1)
        site.communicating += called * float(np.median(mean))
    late[key].append(calls.lateness)


def add_roots(
    found: dict[tuple[object, ...], CallSite], communicator: Communicator, places: dict[Site, str]
) -> None:
    """Roots of rooted collectives, by place."""
    for i in np.unique(communicator.site):
        site = communicator.sites[i]
        for each in found.values():
            if each.place == places[site] and each.signature.collective == site.collective:
                each.roots.add(max(site.root, 0))


def sample(late: Array) -> Array:
    """Some of the calls, evenly spaced."""
    chosen = np.linspace(0, len(late) - 1, min(len(late), MOST_KEPT)).astype(int)
    kept: Array = np.clip(late[chosen], 0, None)
    return kept


def trace_of(late: Array) -> str:
    """The arrivals as a trace for measurements: as many calls, evenly spaced, as a command line can hold."""
    lines = [" ".join(f"{1e6 * value:.0f}us" for value in np.minimum(call, LATEST)) for call in late]
    fitting = max(1, MOST_TEXT // max(len(line) + 1 for line in lines))
    chosen = np.linspace(0, len(lines) - 1, min(len(lines), fitting)).astype(int)
    return "".join(f"{lines[i]}\n" for i in chosen)
