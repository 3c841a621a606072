# SPDX-License-Identifier: BSD-3-Clause
"""Observations of messages: series by operation and channel, and samples of their rounds."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from convene.model.platform_types import Observed, SeriesJson

Array = NDArray[np.float64]


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
    def read(raw: Observed, terms: dict[tuple[str, int], list[Term]] | None = None) -> "Observations":
        return Observations([read_series(one) for one in raw["series"]], raw["protocols"], terms or {})

    @property
    def rounds(self) -> int:
        return min(len(one.seconds[0]) for one in self.series)

    def channels(self) -> list[str]:
        """The nearest first."""
        return [name for name in ("memory", "network") if self.has("round_trip", name)]

    def has(self, operation: str, channel: str) -> bool:
        return any(one.operation == operation and one.channel == channel for one in self.series)


def read_series(one: SeriesJson) -> Series:
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


def whole(observations: Observations) -> Sample:
    return Sample(observations, np.arange(observations.rounds))
