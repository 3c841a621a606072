# SPDX-License-Identifier: BSD-3-Clause
"""Replays: a recorded program on a simulated platform, with its computations between its collectives.

What a rank does between two calls (from the exit of one to its arrival at the next) is its computation: it
stays as recorded, whatever the calls take. On more ranks than recorded, rank r computes as rank r modulo P of
the recording does, in a call of the same site that is drawn at random for every P ranks (the first P keep
theirs). The bytes of a block stay the same (weak scaling).
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convene import _core
from convene._core import RequestError
from convene.base.core_types import Simulated
from convene.simulate.cases import Case
from convene.simulate.programs import (
    CallSimulation,
    Program,
    Setting,
    able,
    extent_of_calls,
    fastest,
    together,
)
from convene.simulate.skeletons import Call, Skeleton
from convene.trace.recordings import Communicator, Recording

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RecordedCalls:
    """The blocking calls of a recording on all of its ranks, in their order. Seconds."""

    kinds: tuple[Call, ...]  # collective, bytes of a block, root
    algorithms: tuple[str, ...]  # by kind: as recorded; "native" too
    kind: tuple[int, ...]  # of each call
    computed: Array  # (calls, ranks): before the call
    took: Array  # (calls, ranks): in the call
    left_out: int  # calls on other communicators, and non-blocking ones

    @property
    def procs(self) -> int:
        return int(self.computed.shape[1])

    @property
    def digest(self) -> str:
        """Equal for equal recordings."""
        parts = (repr((self.kinds, self.algorithms, self.kind)).encode(), self.computed.tobytes())
        return hashlib.sha256(b"".join(parts)).hexdigest()

    @property
    def in_collectives(self) -> float:
        """Mean over ranks of the seconds in these calls."""
        return float(self.took.sum(axis=0).mean())


def read_calls(recording: Recording) -> RecordedCalls:
    """Raises RequestError if the recording has no call that can be replayed."""
    whole = [each for each in recording.communicators if len(each.members) == recording.ranks]
    calls = sorted(
        ((float(each.arrivals[i].min()), each, i) for each in whole for i in range(len(each.arrivals))),
        key=lambda call: call[0],
    )
    kinds: dict[tuple[Call, str], int] = {}
    kind, arrivals, exits = [], [], []
    for _, where, i in calls:
        found = kind_of(where, i)
        if found is None:
            continue
        order = np.argsort(where.members)
        kind.append(kinds.setdefault(found, len(kinds)))
        arrivals.append(where.arrivals[i][order])
        exits.append(where.exits[i][order])
    if not kind:
        raise RequestError(
            "the recording has no blocking collective of all ranks, so there is nothing to replay"
        )
    begins, ends = np.array(arrivals), np.array(exits)
    before = np.vstack([np.full(begins.shape[1], begins[0].min()), ends[:-1]])
    return RecordedCalls(
        kinds=tuple(call for call, _ in kinds),
        algorithms=tuple(algorithm for _, algorithm in kinds),
        kind=tuple(kind),
        computed=np.maximum(begins - before, 0.0),
        took=ends - begins,
        left_out=recording.calls - len(kind),
    )


def kind_of(where: Communicator, i: int) -> tuple[Call, str] | None:
    """The kind of a call and its algorithm; nothing if it cannot be simulated."""
    site = where.sites[where.site[i]]
    if not site.blocking or np.isnan(where.exits[i]).any() or site.collective not in _core.collectives():
        return None
    if _core.is_neighborhood(site.collective):
        return None
    algorithm = where.algorithms[where.algorithm[i]][0] if where.algorithm[i] >= 0 else "native"
    root = max(site.root, 0) if _core.is_rooted(site.collective) else 0
    return Call(site.collective, int(where.sizes[i]), root), algorithm


@dataclass(frozen=True)
class Replay(Case):
    """A recording with an algorithm for each kind of its calls. A run is a call: `seconds` from the end of
    the one before, `mean` and `waiting` in it."""

    recorded: RecordedCalls = field(kw_only=True, repr=False, compare=False)
    digest: str = ""  # of the recording, for the journal
    specs: tuple[str, ...] = ()  # by kind
    seed: int = 1

    def extent(self) -> tuple[str, int]:
        return extent_of_calls(self, self.recorded.kinds, self.specs)

    @property
    def parts(self) -> int:
        return len(self.recorded.kind)

    def simulate(self, on_part: Callable[[], None] | None = None) -> list[list[Simulated]]:
        program = Program(
            self.collective,
            self.spec,
            *(self.procs, self.sizes, self.platform, self.mapping, self.arrivals, self.exact),
            noise=self.noise,
            skeleton=Skeleton("recording", self.parts, self.recorded.kinds),
            specs=self.specs,
            seed=self.seed,
        )
        calls = [
            CallSimulation(program, call, spec, number)
            for number, (call, spec) in enumerate(zip(self.recorded.kinds, self.specs, strict=True))
        ]
        now, done = np.zeros(self.procs), list[Simulated]()
        for number, computed in enumerate(self.computations()):
            begun = float(now.max()) if done else 0.0
            arrived = now + computed
            left, run = calls[self.recorded.kind[number]].simulate(list(map(float, arrived)), number)
            now = np.array(left)
            done.append(together([run] if run else [], float(now.max()) - begun))
            if on_part:
                on_part()
        return [done]

    def computations(self) -> Iterable[Array]:
        """By call: the seconds that each rank computes before it."""
        recorded, kinds = self.recorded, np.array(self.recorded.kind)
        random = np.random.default_rng(self.seed)
        for number, own in enumerate(recorded.computed):
            same = np.flatnonzero(kinds == kinds[number])
            groups = -(-self.procs // recorded.procs)
            drawn = [own, *(recorded.computed[call] for call in random.choice(same, groups - 1))]
            yield np.concatenate(drawn)[: self.procs]


def replays(
    recorded: RecordedCalls,
    uses: list[str],
    setting: Setting,
    simulate: Callable[[list[Any]], list[Any]],
) -> list[Replay]:
    """One for each of `uses`; without any, one with the recorded algorithms, and native ones replaced by the
    fastest for balanced arrivals, and one for each algorithm of the collective with the most time."""
    as_recorded = tuple(
        algorithm if is_able(call, algorithm, setting) else fastest(call, setting, simulate)
        for call, algorithm in zip(recorded.kinds, recorded.algorithms, strict=True)
    )
    main = most_time(recorded)
    if uses:
        wanted = [(text, dict(_core.uses(text))) for text in uses]
    else:
        call = next(call for call in recorded.kinds if call.collective == main)
        wanted = [("as recorded", {})]
        wanted += [(f"{main}={spec}", {main: spec}) for spec in able(call, setting)]
    found = []
    for text, use in wanted:
        if unknown := set(use) - {call.collective for call in recorded.kinds}:
            raise RequestError(f"--use {text}: the recording has no {min(unknown)}; leave it out")
        specs = tuple(
            use.get(call.collective, own) for call, own in zip(recorded.kinds, as_recorded, strict=True)
        )
        for call, spec in zip(recorded.kinds, specs, strict=True):
            if why := _core.unmet(call.collective, spec, setting.procs):
                raise RequestError(f"{call.collective}={spec} {why}, not {setting.procs}")
        found.append(
            Replay(
                "recording",
                text,
                setting.procs,
                (0,),
                setting.platform,
                setting.mapping,
                (),
                setting.exact,
                noise=setting.noise,
                recorded=recorded,
                digest=recorded.digest,
                specs=specs,
                seed=setting.seed,
            )
        )
    return found


def is_able(call: Call, algorithm: str, setting: Setting) -> bool:
    """Whether a recorded algorithm has a schedule on this number of ranks."""
    try:
        spec = _core.spec(call.collective, algorithm)
    except RequestError:
        return False
    return spec != "native" and not (
        _core.unmet(call.collective, spec, setting.procs) or setting.case(call, spec).refusal()
    )


def most_time(recorded: RecordedCalls) -> str:
    """The collective in which the ranks spent the most time."""
    sums: dict[str, float] = {}
    for number, kind in enumerate(recorded.kind):
        name = recorded.kinds[kind].collective
        sums[name] = sums.get(name, 0.0) + float(recorded.took[number].sum())
    return max(sums, key=lambda name: sums[name])
