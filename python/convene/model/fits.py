# SPDX-License-Identifier: BSD-3-Clause
"""Fits: parameters of the models from observations of messages, each with an interval.

Times are seconds and sizes bytes. What the observations are, tools/measure_operations.hpp says; what the
parameters mean, docs/models.md.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from convene.model import curves, fit_taulop
from convene.model.fit_types import (
    Channel,
    Fitted,
    FittedPacking,
    Hockney,
    LogfP,
    LogGP,
    LogNP,
    PLogP,
    TauLop,
)
from convene.model.measured_series import Array, Curve, Observations, Sample

CONFIDENCE = 0.95
RESAMPLES = 200


def fit_hockney(sample: Sample, channel: str) -> Hockney:
    trip = curves.half_trip(sample, channel)
    alpha, beta = curves.line(trip.bytes, trip.times)
    return {"alpha": alpha, "beta": beta}


def fit_loggp(sample: Sample, channel: str) -> LogGP:
    steps = curves.gap(sample, channel)
    g, per_byte = curves.line(steps.bytes - 1, steps.times)
    overhead = curves.paused_overhead(sample, channel)
    latency = max(0.0, float(curves.half_trip(sample, channel).at(1.0)) - 2 * overhead)
    found: LogGP = {"L": latency, "o": overhead, "g": g, "G": per_byte}
    threshold = sample.observations.protocols.get(channel)
    return found if threshold is None else {**found, "S": threshold}


def fit_plogp(sample: Sample, channel: str) -> PLogP:
    steps = curves.nondecreasing(curves.gap(sample, channel))
    latency = max(0.0, float(curves.half_trip(sample, channel).times[0] - steps.times[0]))
    return {
        "L": latency,
        "o_s": curves.nondecreasing(sample.curve("send", channel)),
        "o_r": curves.nondecreasing(sample.curve("receive", channel)),
        "g": steps,
    }


def fit_logfp(sample: Sample, channel: str) -> LogfP:
    sends, receives = sample.by_messages("sends", channel), sample.by_messages("receives", channel)
    overhead = float(sends.times[-1])
    free, g = curves.free_messages(sample.by_messages("burst", channel), overhead)
    single = float(curves.half_trip(sample, channel).at(1.0))
    latency = max(0.0, single - float(sends.times[0]) - float(receives.times[0]))
    return {"L": latency, "g": g, "f": free, "o_s": sends, "o_r": receives}


def fit_lognp(sample: Sample, channel: str, *, in_memory: bool) -> LogNP:
    trip = curves.half_trip(sample, channel)
    if in_memory:
        half = curves.nondecreasing(Curve(trip.bytes, trip.times / 2))
        return {"transfers": [half, half]}
    network = np.minimum(curves.gap(sample, channel).at(trip.bytes), trip.times)
    side = curves.nondecreasing(Curve(trip.bytes, (trip.times - network) / 2), trip.times)
    return {"transfers": [side, curves.nondecreasing(Curve(trip.bytes, network)), side]}


def fit_channel(sample: Sample, channel: str) -> Channel:
    in_memory = channel == "memory"
    return {
        "hockney": fit_hockney(sample, channel),
        "loggp": fit_loggp(sample, channel),
        "logfp": fit_logfp(sample, channel),
        "plogp": fit_plogp(sample, channel),
        "lognp": fit_lognp(sample, channel, in_memory=in_memory),
        "taulop": fit_taulop.fit_taulop_memory(sample, channel)
        if in_memory
        else fit_network(sample, channel),
    }


def fit_network(sample: Sample, channel: str) -> TauLop:
    has_memory = "memory" in sample.observations.channels()
    memory = fit_taulop.fit_taulop_memory(sample, "memory")["L"] if has_memory else None
    return fit_taulop.fit_taulop_network(sample, channel, memory)


def fit(sample: Sample) -> Fitted:
    """All parameters, in the structure of a platform file's model: {"copy", "packing", "computation",
    "channels"}; without "packing" where an older raw file has none."""
    local = curves.fit_local(sample, "packing")
    packing: FittedPacking = {"packing": local[1]} if local else {}
    return {
        "copy": curves.fit_local(sample, "copy"),
        **packing,
        "computation": curves.fit_local(sample, "combine"),
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
        costs = {channel: curves.issue_cost(sample, channel) for channel in observations.channels()}
        for path, numbers in leaves({**fit(sample), "issue_cost": costs}):
            drawn.setdefault(path, []).append(numbers)
    tail = (1 - CONFIDENCE) / 2 * 100
    found = {}
    for path, rows in drawn.items():
        low, high = np.percentile(np.array(rows), [tail, 100 - tail], axis=0)
        found[path] = (low, high)
    return found
