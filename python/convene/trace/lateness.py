# SPDX-License-Identifier: BSD-3-Clause
"""Lateness of ranks in the collectives of a recorded program, and the waiting that it costs."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convene.base.result_types import Json
from convene.stats.arrivals import waiting
from convene.trace import call_sites
from convene.trace.lines import Array
from convene.trace.recordings import Communicator, Recording, Site

LEAST_CALLS = 8  # of a kind: then the most balanced ones give the balanced run time
BALANCED_SHARE = 0.25  # of the calls; their imbalance must be
BALANCED_IMBALANCE = 0.5  # of their run time, at most


@dataclass(frozen=True)
class Kind:
    """Calls that are summed up together."""

    place: str
    collective: str
    algorithm: str
    reason: str
    blocking: bool
    members: tuple[int, ...]
    size_class: int


@dataclass
class Calls:
    """All calls of one kind, in order of time."""

    kind: Kind
    number: NDArray[np.int64]  # on the communicator
    arrivals: Array  # (calls, members), seconds of the common time
    exits: Array
    sizes: NDArray[np.uint64]
    error: float

    def __len__(self) -> int:
        return len(self.number)

    @cached_property
    def imbalance(self) -> Array:
        """First to last arrival of each call, in seconds."""
        spread: Array = self.arrivals.max(axis=1) - self.arrivals.min(axis=1)
        return spread

    @cached_property
    def lateness(self) -> Array:
        """Lateness of each rank after the first arrival: (calls, members)."""
        late: Array = self.arrivals - self.arrivals.min(axis=1, keepdims=True)
        return late

    @cached_property
    def last(self) -> NDArray[np.int64]:
        """The member that arrived last at each call."""
        member: NDArray[np.int64] = np.argmax(self.arrivals, axis=1)
        return member

    @cached_property
    def waiting(self) -> Array:
        """Time of each rank inside before the last arrival: (calls, members). Zero in calls that only start
        an operation."""
        if not self.kind.blocking:
            return np.zeros_like(self.arrivals)
        exits = np.where(np.isnan(self.exits), np.inf, self.exits)
        return np.maximum(waiting(self.arrivals, exits), 0)

    @cached_property
    def run_time(self) -> Array:
        """First arrival to last exit of each call; NaN if a rank did not leave."""
        took: Array = self.exits.max(axis=1) - self.arrivals.min(axis=1)
        return took

    @cached_property
    def balanced_run_time(self) -> float:
        """Balanced run time of a call: the median over the most balanced quarter; NaN where too few
        calls, or none, were balanced."""
        whole = np.flatnonzero(~np.isnan(self.run_time))
        if len(whole) < LEAST_CALLS or not self.kind.blocking:
            return float("nan")
        order = whole[np.argsort(self.imbalance[whole], kind="stable")]
        best = order[: int(len(order) * BALANCED_SHARE)]
        took = float(np.median(self.run_time[best]))
        return took if np.median(self.imbalance[best]) <= BALANCED_IMBALANCE * took else float("nan")

    @cached_property
    def gain(self) -> Array:
        """How much of the imbalance ω did not make the call longer: the sources' absorption r' - r + ω."""
        absorbed: Array = self.balanced_run_time - self.run_time + self.imbalance
        return absorbed

    @property
    def rank_last(self) -> NDArray[np.int64]:
        """The program's rank that arrived last at each call."""
        rank: NDArray[np.int64] = np.array(self.kind.members)[self.last]
        return rank

    @cached_property
    def often_last(self) -> tuple[int, float]:
        """The rank that was last most often, and in which share of the calls whose imbalance can be seen."""
        seen = self.rank_last[self.imbalance > self.error]
        if not len(seen):
            return -1, 0.0
        ranks, counts = np.unique(seen, return_counts=True)
        return int(ranks[counts.argmax()]), float(counts.max() / len(seen))

    def as_json(self) -> Json:
        rank, share = self.often_last
        gain = float(np.nanmean(self.gain)) if not np.isnan(self.gain).all() else None
        return {
            "site": self.kind.place,
            "collective": self.kind.collective,
            "blocking": self.kind.blocking,
            "algorithm": self.kind.algorithm,
            "reason": self.kind.reason,
            "procs": len(self.kind.members),
            "members": list(self.kind.members),
            "bytes_per_block": float(self.sizes.mean()),
            "calls": len(self),
            "imbalance_median": float(np.median(self.imbalance)),
            "imbalance_max": float(self.imbalance.max()),
            "often_last": rank,
            "often_last_share": share,
            "waiting_seconds": float(self.waiting.sum()),
            "waiting_per_call": float(self.waiting.mean()),
            "gain_per_call": gain,
            "lateness_by_rank": self.lateness.mean(axis=0).tolist(),
            "waiting_by_rank": self.waiting.sum(axis=0).tolist(),
        }


@dataclass
class RankRow:
    """One rank, over all calls."""

    rank: int
    calls: int = 0
    last: int = 0  # calls in which it arrived last, beyond the clock error
    lateness: float = 0.0  # seconds after the first, over all calls
    waiting: float = 0.0
    inside: float = 0.0  # in blocking calls
    cost: float = 0.0  # seconds that others waited in the calls at which it arrived last

    def as_json(self) -> Json:
        return {
            "rank": self.rank,
            "calls": self.calls,
            "last": self.last,
            "lateness_mean": self.lateness / max(self.calls, 1),
            "waiting_seconds": self.waiting,
            "collective_seconds": self.inside,
            "others_waited_seconds": self.cost,
        }


@dataclass
class Summary:
    """A recording, summed up."""

    recording: Recording
    kinds: list[Calls] = field(default_factory=list)
    ranks: list[RankRow] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.recording.end - self.recording.start

    @property
    def waiting(self) -> float:
        return sum(row.waiting for row in self.ranks)

    def as_json(self) -> Json:
        recording = self.recording
        return {
            "ranks": recording.ranks,
            "calls": recording.calls,
            "lost": recording.lost,
            "seconds": self.seconds,
            "clock_error_seconds": recording.error,
            "waiting_seconds": self.waiting,
            "sites": [calls.as_json() for calls in self.kinds],
            "by_rank": [row.as_json() for row in self.ranks],
            "messages": recording.messages,
        }


def summarize(recording: Recording) -> Summary:
    """Sums up by kind of call, those with the most waiting first, and by rank."""
    used: dict[Site, None] = {}
    for communicator in recording.communicators:
        used.update((communicator.sites[i], None) for i in np.unique(communicator.site))
    places = call_sites.names(used)
    kinds: list[Calls] = []
    for communicator in recording.communicators:
        kinds += split(communicator, places)
    kinds = unite(kinds)
    kinds.sort(key=lambda calls: (-float(calls.waiting.sum()), calls.kind.place))
    rows: dict[int, RankRow] = {}
    for calls in kinds:
        add_ranks(calls, rows)
    return Summary(recording, kinds, [rows[rank] for rank in sorted(rows)])


def split(communicator: Communicator, places: dict[Site, str]) -> list[Calls]:
    """A communicator's calls by their kinds."""
    classes = np.array([int(size).bit_length() for size in communicator.sizes])
    labels = np.column_stack([communicator.site, communicator.algorithm, classes])
    found = []
    for label in np.unique(labels, axis=0):
        chosen = np.flatnonzero((labels == label).all(axis=1))
        site = communicator.sites[label[0]]
        name, reason = communicator.algorithms[label[1]] if label[1] >= 0 else ("native", "not decided")
        kind = Kind(
            place=places[site],
            collective=site.collective or "several",
            algorithm=name,
            reason=reason,
            blocking=site.blocking,
            members=tuple(communicator.members),
            size_class=int(label[2]),
        )
        found.append(
            Calls(
                kind,
                communicator.first + chosen,
                communicator.arrivals[chosen],
                communicator.exits[chosen],
                communicator.sizes[chosen],
                communicator.error,
            )
        )
    return found


def unite(kinds: list[Calls]) -> list[Calls]:
    """The same kind on several communicators (or of several sites that read the same) as one."""
    groups: dict[Kind, list[Calls]] = {}
    for calls in kinds:
        groups.setdefault(calls.kind, []).append(calls)
    united = []
    for kind, several in groups.items():
        if len(several) == 1:
            united += several
            continue
        arrivals = np.concatenate([calls.arrivals for calls in several])
        order = np.argsort(arrivals.min(axis=1), kind="stable")
        united.append(
            Calls(
                kind,
                np.concatenate([calls.number for calls in several])[order],
                arrivals[order],
                np.concatenate([calls.exits for calls in several])[order],
                np.concatenate([calls.sizes for calls in several])[order],
                max(calls.error for calls in several),
            )
        )
    return united


def add_ranks(calls: Calls, rows: dict[int, RankRow]) -> None:
    seen = calls.imbalance > calls.error
    per_call = calls.waiting.sum(axis=1)
    for member, rank in enumerate(calls.kind.members):
        row = rows.setdefault(rank, RankRow(rank))
        was_last = seen & (calls.last == member)
        row.calls += len(calls)
        row.last += int(was_last.sum())
        row.lateness += float(calls.lateness[:, member].sum())
        row.waiting += float(calls.waiting[:, member].sum())
        row.cost += float(per_call[was_last].sum())
        if calls.kind.blocking:
            row.inside += float(np.nansum(calls.exits[:, member] - calls.arrivals[:, member]))
