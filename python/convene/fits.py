# SPDX-License-Identifier: BSD-3-Clause
"""From observations of messages to the parameters of models, each with an interval.

Times are seconds and sizes bytes. What the observations are, tools/measure_operations.hpp says; what the
parameters mean, docs/models.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 200


@dataclass(frozen=True)
class Series:
    """One operation's observations: `seconds` by size and round."""

    operation: str
    channel: str
    tau: int
    messages: int
    delay: float
    algorithm: str
    bytes: Array
    seconds: Array


# A parameter's name (o, L, c, gamma), its channel, τ, and the factor of its value for m bytes.
Term = tuple[str, int, int, float]


@dataclass(frozen=True)
class Curve:
    """Times by size, ascending."""

    bytes: Array
    times: Array

    def at(self, sizes: Array | float) -> Array:
        """Straight between the points, and beyond the last on the line through the last two."""
        sizes = np.asarray(sizes, dtype=float)
        inside = np.interp(sizes, self.bytes, self.times)
        if len(self.bytes) < 2:
            return inside
        slope = (self.times[-1] - self.times[-2]) / (self.bytes[-1] - self.bytes[-2])
        beyond = self.times[-1] + slope * (sizes - self.bytes[-1])
        return np.where(sizes > self.bytes[-1], beyond, inside)

    def points(self) -> list[list[float]]:
        return [[float(size), float(time)] for size, time in zip(self.bytes, self.times, strict=True)]


@dataclass(frozen=True)
class Observations:
    """All series of one run."""

    series: list[Series]
    protocols: dict[str, int | None] = field(
        default_factory=dict
    )  # by channel: from which size a sender waits
    # What collectives within a node consist of, by algorithm and number of ranks: those that L is fitted to.
    terms: dict[tuple[str, int], list[Term]] = field(default_factory=dict)

    @staticmethod
    def read(raw: dict[str, Any], terms: dict[tuple[str, int], list[Term]] | None = None) -> "Observations":
        return Observations([read_series(one) for one in raw["series"]], raw["protocols"], terms or {})

    @property
    def rounds(self) -> int:
        return min(len(one.seconds[0]) for one in self.series)

    def channels(self) -> list[str]:
        """The nearest first."""
        return [name for name in ("memory", "network") if self.has("round_trip", name)]

    def has(self, operation: str, channel: str) -> bool:
        return any(one.operation == operation and one.channel == channel for one in self.series)


def read_series(one: dict[str, Any]) -> Series:
    points = one["points"]
    return Series(
        one["operation"],
        one["channel"],
        one["tau"],
        one["messages"],
        points[0]["delay"] if one["operation"] == "burst" else 0.0,
        one["algorithm"],
        np.array([point["bytes"] for point in points], dtype=float),
        np.array([point["seconds"] for point in points], dtype=float),
    )


@dataclass(frozen=True)
class Sample:
    """Some rounds of the observations: all of them, or those that the bootstrap drew."""

    observations: Observations
    rounds: NDArray[np.intp]

    def find(self, operation: str, channel: str) -> Iterator[tuple[Series, Curve]]:
        for one in self.observations.series:
            if one.operation == operation and one.channel == channel:
                yield one, Curve(one.bytes, np.median(one.seconds[:, self.rounds], axis=1))

    def curve(
        self, operation: str, channel: str, *, tau: int = 1, messages: int = 1, most: bool = False
    ) -> Curve:
        """The curve of this operation, without pauses; of several the one with most sizes."""
        found = [
            curve
            for one, curve in self.find(operation, channel)
            if one.tau == tau and one.messages == messages and one.delay == 0
        ]
        return max(found, key=lambda curve: len(curve.bytes)) if most else found[0]

    def by_messages(self, operation: str, channel: str) -> Curve:
        """Times of a message of one byte by the number of messages in a row, without pauses."""
        found = {
            one.messages: float(curve.times[np.flatnonzero(curve.bytes == 1)[0]])
            for one, curve in self.find(operation, channel)
            if one.delay == 0 and 1 in curve.bytes and one.tau == 1
        }
        return Curve(np.array(sorted(found), dtype=float), np.array([found[n] for n in sorted(found)]))

    def taus(self, operation: str, channel: str) -> list[int]:
        return sorted({one.tau for one, _ in self.find(operation, channel)})


def line(x: Array, times: Array) -> tuple[float, float]:
    """fixed + slope · x with the least sum of squared relative errors, neither of them negative."""
    from scipy import optimize  # takes a second to load: not for every command

    (fixed, slope), _ = optimize.nnls(np.column_stack([np.ones_like(x), x]) / times[:, None], np.ones_like(x))
    return float(fixed), float(slope)


def growing(curve: Curve, measured: Array | None = None) -> Curve:
    """The closest curve (squared relative errors) that never falls and is nowhere negative. Where the times
    are differences, `measured` is what they are differences of: errors are relative to that. (A difference
    near 0, or below, would else count for more than all others.)"""
    from scipy import optimize  # takes a second to load: not for every command

    times = np.maximum(curve.times, 0.0)
    size = times if measured is None else measured
    weights = 1 / np.maximum(size, size.max() * 1e-6 + 1e-12) ** 2
    return Curve(curve.bytes, optimize.isotonic_regression(times, weights=weights).x)


def half_trip(sample: Sample, channel: str) -> Curve:
    trip = sample.curve("round_trip", channel)
    return Curve(trip.bytes, trip.times / 2)


def burst_of(sample: Sample, channel: str) -> tuple[int, Curve]:
    """The bursts that were measured at most sizes: how many messages, and PRTT(n, 0, s)."""
    found = [(one.messages, curve) for one, curve in sample.find("burst", channel) if one.delay == 0]
    return max(found, key=lambda item: len(item[1].bytes))


def gap(sample: Sample, channel: str) -> Curve:
    """g + (s - 1)G: what each further message of a burst adds, by Hoefler, Lichei, Rehm 2007."""
    messages, burst = burst_of(sample, channel)
    single = sample.curve("round_trip", channel).at(burst.bytes)
    return Curve(burst.bytes, np.maximum(burst.times - single, 1e-12) / (messages - 1))


def paused_overhead(sample: Sample, channel: str) -> float:
    """o, from a burst with pauses d longer than its gap: (PRTT(n, d, 1) - PRTT(1, 0, 1))/(n - 1) - d."""
    one, curve = next(item for item in sample.find("burst", channel) if item[0].delay > 0)
    single = float(sample.curve("round_trip", channel).at(1.0))
    return max(0.0, (float(curve.times[0]) - single) / (one.messages - 1) - one.delay)


def fit_hockney(sample: Sample, channel: str) -> dict[str, Any]:
    trip = half_trip(sample, channel)
    alpha, beta = line(trip.bytes, trip.times)
    return {"alpha": alpha, "beta": beta}


def fit_loggp(sample: Sample, channel: str) -> dict[str, Any]:
    steps = gap(sample, channel)
    g, per_byte = line(steps.bytes - 1, steps.times)
    overhead = paused_overhead(sample, channel)
    latency = max(0.0, float(half_trip(sample, channel).at(1.0)) - 2 * overhead)
    found: dict[str, Any] = {"L": latency, "o": overhead, "g": g, "G": per_byte}
    threshold = sample.observations.protocols.get(channel)
    return found if threshold is None else {**found, "S": threshold}


def fit_plogp(sample: Sample, channel: str) -> dict[str, Any]:
    steps = growing(gap(sample, channel))
    latency = max(0.0, float(half_trip(sample, channel).times[0] - steps.times[0]))
    return {
        "L": latency,
        "o_s": growing(sample.curve("send", channel)),
        "o_r": growing(sample.curve("receive", channel)),
        "g": steps,
    }


def free_messages(times: Curve, overhead: float) -> tuple[int, float]:
    """f and g of LogfP: n messages take max{(n - 1)·o, (n - f)·g} longer than none; least squares over n."""
    from scipy import optimize  # takes a second to load: not for every command

    n, rest = times.bytes[1:], np.maximum(times.times[1:] - times.times[0], 1e-12)

    def error(g: float, free: int) -> float:
        return float(np.sum((np.maximum((n - 1) * overhead, (n - free) * g) / rest - 1) ** 2))

    most = float(np.max(rest / (n - 1))) * 4
    found = []
    for free in range(1, max(2, int(n[-1]) // 2)):
        best = optimize.minimize_scalar(
            error, bounds=(0, most), args=(free,), method="bounded", options={"xatol": most * 1e-6}
        )
        found.append((float(best.fun), free, float(best.x)))
    # More free messages than one only where that explains clearly more.
    plain = found[0]
    best_error, free, g = min(found)
    return (free, g) if best_error < 0.8 * plain[0] else (plain[1], plain[2])


def fit_logfp(sample: Sample, channel: str) -> dict[str, Any]:
    sends, receives = sample.by_messages("sends", channel), sample.by_messages("receives", channel)
    overhead = float(sends.times[-1])
    free, g = free_messages(sample.by_messages("burst", channel), overhead)
    single = float(half_trip(sample, channel).at(1.0))
    latency = max(0.0, single - float(sends.times[0]) - float(receives.times[0]))
    return {"L": latency, "g": g, "f": free, "o_s": sends, "o_r": receives}


def issue_cost(sample: Sample, channel: str) -> float:
    """τ of Sparbit's formula: what one more message of a round costs its sender; the slope of n sends."""
    sends = sample.by_messages("sends", channel)
    slope, _ = np.polyfit(sends.bytes, sends.bytes * sends.times, 1)
    return max(0.0, float(slope))


def fit_lognp(sample: Sample, channel: str, *, in_memory: bool) -> dict[str, Any]:
    trip = half_trip(sample, channel)
    if in_memory:
        half = growing(Curve(trip.bytes, trip.times / 2))
        return {"transfers": [half, half]}
    network = np.minimum(gap(sample, channel).at(trip.bytes), trip.times)
    side = growing(Curve(trip.bytes, (trip.times - network) / 2), trip.times)
    return {"transfers": [side, growing(Curve(trip.bytes, network)), side]}


def ordered(table: dict[int, Curve], measured: dict[int, Array] | None = None) -> dict[int, Curve]:
    """Curves that never fall when the size grows, nor when τ grows. `measured`: see `growing`."""
    found: dict[int, Curve] = {}
    least: Array = np.zeros(1)
    for tau in sorted(table):
        curve = growing(table[tau], measured[tau] if measured else None)
        least = np.maximum(curve.times, least)
        found[tau] = Curve(curve.bytes, least)
    return found


def fit_taulop_memory(sample: Sample, channel: str) -> dict[str, Any]:
    """o = RTT(0)/2 (7.2); L(m, 1) from round trips, L(m, τ) from rings (7.4); L_c from copies through shared
    memory."""
    trip = half_trip(sample, channel)
    overhead = float(trip.times[0])
    table = {1: Curve(trip.bytes, (trip.times - overhead) / 2)}
    for tau in sample.taus("ring", channel):
        ring = sample.curve("ring", channel, tau=tau)
        table[tau] = Curve(ring.bytes, (ring.times - overhead) / 2)
    table = with_collectives(sample, overhead, ordered(table))
    shared = {tau: sample.curve("shared", channel, tau=tau) for tau in sample.taus("shared", channel)}
    return {
        "o": overhead,
        "transport": "copy_in_copy_out",
        "L": ordered(table),
        **({"L_c": ordered(shared)} if 1 in shared else {}),
    }


def shares(known: list[int], tau: int) -> dict[int, float]:
    """L(m, τ) as a combination of those that are known: as models do it between and beyond them."""
    if tau in known or len(known) == 1:
        return {tau if tau in known else known[0]: 1.0}
    above = next((one for one in known if one > tau), known[-1])
    below = max((one for one in known if one < tau), default=known[0]) if above > tau else known[0]
    share = (tau - below) / (above - below)
    return {below: 1 - share, above: share}


def equations(
    sample: Sample, overhead: float, known: list[int], size: float
) -> list[tuple[Array, float, float]]:
    """Of the collectives at this size: factors of L(m, τ), what they must add up to, and the time it took."""
    found = []
    for series, curve in sample.find("collective", "all"):
        terms = sample.observations.terms.get((series.algorithm, series.tau))
        if terms is None or size not in curve.bytes:
            continue
        time = float(curve.at(size))
        rest, factors = time, np.zeros(len(known))
        for name, _, tau, factor in terms:
            if name == "L":
                for one, share in shares(known, tau).items():
                    factors[known.index(one)] += factor * share
            elif name == "o":
                rest -= factor * overhead
            else:
                local = fit_local(sample, "copy" if name == "c" else "combine")
                rest -= factor * float(between(local, np.array([size]), min(tau, max(local)))[0])
        found.append((factors, rest, time))
    return found


def with_collectives(sample: Sample, overhead: float, table: dict[int, Curve]) -> dict[int, Curve]:
    """L by least squares of relative errors over rings and collectives (7.7).

    Solved at the collectives' sizes; between them the rings are scaled alike.
    """
    from scipy import optimize  # takes a second to load: not for every command

    known = sorted(table)
    sizes = sorted(
        {
            float(size)
            for series, curve in sample.find("collective", "all")
            if (series.algorithm, series.tau) in sample.observations.terms
            for size in curve.bytes
        }
    )
    if not sizes:
        return table
    factors = []
    for size in sizes:
        alone = np.array([float(table[tau].at(size)) for tau in known])
        rows = [*np.diag(2 / (overhead + 2 * alone))]
        sides = [*(2 * alone / (overhead + 2 * alone))]
        for row, rest, time in equations(sample, overhead, known, size):
            rows.append(row / time)
            sides.append(max(0.0, rest) / time)
        solution, _ = optimize.nnls(np.array(rows), np.array(sides))
        factors.append(np.where(alone > 0, solution / np.maximum(alone, 1e-15), 1.0))
    logs = np.log(np.maximum(sizes, 1))
    return {
        tau: Curve(
            table[tau].bytes,
            table[tau].times
            * np.interp(np.log(np.maximum(table[tau].bytes, 1)), logs, [row[i] for row in factors]),
        )
        for i, tau in enumerate(known)
    }


def between(table: dict[int, Curve], sizes: Array, tau: int) -> Array:
    """L(m, τ) for any τ up to the largest."""
    rows = np.array([table[known].at(sizes) for known in sorted(table)])
    known = np.array(sorted(table), dtype=float)
    return np.array([np.interp(tau, known, column) for column in rows.T])


def fit_taulop_network(sample: Sample, channel: str, memory: dict[int, Curve] | None) -> dict[str, Any]:
    """o from round trips (7.2) and, where senders wait, from synchronous messages (7.3); L by (7.6), from
    messages one way and back; L_sr likewise from exchanges. Without a memory, of which nothing is known where
    each node has one rank, the network's transfer is all of a message."""
    trip = half_trip(sample, channel)
    eager = float(trip.times[0])
    waiting = max(eager, float(sample.curve("synchronous", channel).times[0]))
    threshold = sample.observations.protocols.get(channel)
    if not threshold:  # all messages go alike
        overhead = Curve(np.array([0.0]), np.array([eager if threshold is None else waiting]))
    else:
        overhead = Curve(np.array([0.0, threshold, threshold]), np.array([eager, eager, waiting]))
    spent = eager if threshold is None else np.where(trip.bytes < threshold, eager, waiting)
    whole = {1: trip.times}
    for tau in sample.taus("cross", channel):
        whole[tau] = sample.curve("cross", channel, tau=tau).times

    def transfers(whole: dict[int, Array]) -> dict[int, Curve]:
        def copies(tau: int) -> Array | float:
            return 2 * between(memory, trip.bytes, tau) if memory else 0.0

        found = {tau: Curve(trip.bytes, times - spent - copies(tau)) for tau, times in whole.items()}
        return ordered(found, whole)

    exchanged = {
        tau: sample.curve("exchange", channel, tau=tau).times for tau in sample.taus("exchange", channel)
    }
    return {
        "o": overhead,
        "transport": "copies" if memory else "rdma",
        "L": transfers(whole),
        **({"L_sr": transfers(exchanged)} if 1 in exchanged else {}),
    }


def fit_channel(sample: Sample, channel: str) -> dict[str, Any]:
    in_memory = channel == "memory"
    found = {
        "hockney": fit_hockney(sample, channel),
        "loggp": fit_loggp(sample, channel),
        "logfp": fit_logfp(sample, channel),
        "plogp": fit_plogp(sample, channel),
        "lognp": fit_lognp(sample, channel, in_memory=in_memory),
    }
    if in_memory:
        return {**found, "taulop": fit_taulop_memory(sample, channel)}
    has_memory = "memory" in sample.observations.channels()
    memory = fit_taulop_memory(sample, "memory")["L"] if has_memory else None
    return {**found, "taulop": fit_taulop_network(sample, channel, memory)}


def fit_local(sample: Sample, operation: str) -> dict[int, Curve]:
    return ordered(
        {tau: sample.curve(operation, "local", tau=tau) for tau in sample.taus(operation, "local")}
    )


def fit(sample: Sample) -> dict[str, Any]:
    """All parameters, in the structure of a platform file's model: {"copy", "packing", "computation",
    "channels"}; without "packing" where an older raw file has none."""
    packing = fit_local(sample, "packing")
    return {
        "copy": fit_local(sample, "copy"),
        **({"packing": packing[1]} if packing else {}),
        "computation": fit_local(sample, "combine"),
        "channels": {name: fit_channel(sample, name) for name in sample.observations.channels()},
    }


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Array]]:
    """Every parameter as numbers: a single one, or one for each size."""
    if isinstance(value, Curve):
        yield path, value.times
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{number}]")
    elif not isinstance(value, str):
        yield path, np.array([float(value)])


def whole(observations: Observations) -> Sample:
    return Sample(observations, np.arange(observations.rounds))


def intervals(
    observations: Observations, *, resamples: int = RESAMPLES, seed: int = 1
) -> dict[str, tuple[Array, Array]]:
    """By the parameter's path: where it lies with 95 % confidence, by the bootstrap.

    Rounds are drawn, so that what met all observations of a round stays together.
    """
    random = np.random.default_rng(seed)
    drawn: dict[str, list[Array]] = {}
    for _ in range(resamples):
        rounds = random.integers(observations.rounds, size=observations.rounds)
        sample = Sample(observations, rounds)
        costs = {channel: issue_cost(sample, channel) for channel in observations.channels()}
        for path, numbers in leaves({**fit(sample), "issue_cost": costs}):
            drawn.setdefault(path, []).append(numbers)
    tail = (1 - CONFIDENCE) / 2 * 100
    found = {}
    for path, rows in drawn.items():
        low, high = np.percentile(np.array(rows), [tail, 100 - tail], axis=0)
        found[path] = (low, high)
    return found


@dataclass(frozen=True)
class Kink:
    """Between two sizes that stand close the time of an operation jumps."""

    operation: str
    below: float
    above: float
    time_below: float
    time_above: float


def kinks(
    observations: Observations, channel: str, *, closest: float = 1.5, factor: float = 1.25
) -> list[Kink]:
    """Jumps that neither the slope nor chance explains, of round trips and of two messages at a time."""
    found = []
    for series in observations.series:
        if series.channel == channel and series.messages == 1 and (series.operation, series.tau) in WATCHED:
            found += kinks_of(series, closest, factor)
    return found


# Where kinks are looked for: an operation and its τ.
WATCHED = (("round_trip", 1), ("send", 1), ("ring", 2), ("cross", 2))


def kinks_of(series: Series, closest: float, factor: float) -> list[Kink]:
    low, middle, high = np.percentile(series.seconds, [25, 50, 75], axis=1)
    found = []
    for i in range(1, len(middle)):
        a, b = float(series.bytes[i - 1]), float(series.bytes[i])
        if a < 16 or b > closest * a:
            continue
        if middle[i] > factor * middle[i - 1] * (b / a) ** 0.5 and low[i] > high[i - 1]:
            found.append(Kink(series.operation, a, b, float(middle[i - 1]), float(middle[i])))
    return found


def cross_checks(sample: Sample, channel: str) -> dict[str, float]:
    """The same by other methods: what they say of LogGP's parameters."""
    trip = half_trip(sample, channel)
    send = float(sample.curve("send", channel).at(1.0))
    receive = float(sample.curve("receive", channel).at(1.0))
    steps = gap(sample, channel)
    plogp = fit_plogp(sample, channel)
    return {
        "o_s (Kielmann: one send)": send,
        "o_r (Kielmann: delayed receive)": receive,
        "o_s (Culler: many sends, each)": float(sample.by_messages("sends", channel).times[-1]),
        "L (Hoefler: PRTT(1,0,1)/2 - o_s - o_r)": max(0.0, float(trip.at(1.0)) - send - receive),
        "EEL (Bell: RTT/2)": float(trip.at(1.0)),
        "g (PLogP: g(1))": float(plogp["g"].times[0]),
        "G (PLogP: g(m)/m at the largest m)": float(steps.times[-1] / steps.bytes[-1]),
        "L (PLogP: L + g(1) - o_s(1) - o_r(1))": max(
            0.0, plogp["L"] + float(plogp["g"].times[0]) - send - receive
        ),
    }
