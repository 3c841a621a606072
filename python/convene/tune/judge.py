# SPDX-License-Identifier: BSD-3-Clause
"""Judgement: which candidate replaces native at a size, on what evidence.

A ratio is the median time of a candidate over that of native, of observations in the same repetitions.
Its 95 % interval is a bootstrap over repetitions. A candidate is taken if its ratio, by each method of
measuring, has an upper end of at most 0.97 in the first half of the repetitions and below 1 in the second,
and if it also wins at a neighbouring size. Candidates are ranked by the first half only, so that the second
one is not the sample they were chosen by.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from convene.stats import bootstrap
from convene.stats.bootstrap import Array, Estimate

MOST_IN_FIRST_HALF = 0.97  # upper end of the ratio
MOST_IN_SECOND_HALF = 1.0
LEAST_REPETITIONS = 8

Times = Mapping[str, Array]  # seconds by contender, one for each repetition


@dataclass(frozen=True)
class Ratio:
    """Ratio of a candidate's time to that of native, by one method."""

    whole: Estimate
    first: Estimate
    second: Estimate

    def as_json(self) -> dict[str, object]:
        return {
            "ratio": round(self.whole.value, 4),
            "interval": [round(self.whole.low, 4), round(self.whole.high, 4)],
            "halves": [round(self.first.high, 4), round(self.second.high, 4)],
        }

    def wins(self) -> bool:
        return self.first.high <= MOST_IN_FIRST_HALF and self.second.high < MOST_IN_SECOND_HALF


def ratio_of(candidate: Array, native: Array, seed: int = 1) -> Estimate:
    """Ratio of medians. Both arrays have one value for each repetition."""
    medians = bootstrap.resample_medians(np.stack([candidate, native]), seed)
    return bootstrap.estimate(np.median(candidate) / np.median(native), medians[0] / medians[1])


def judge(candidate: Array, native: Array) -> Ratio:
    half = len(native) // 2
    return Ratio(
        ratio_of(candidate, native),
        ratio_of(candidate[:half], native[:half]),
        ratio_of(candidate[half:], native[half:]),
    )


@dataclass(frozen=True)
class Verdict:
    """A candidate at one size, by all methods."""

    spec: str
    ratios: Mapping[str, Ratio]  # by method

    @property
    def ratio(self) -> float:
        """The worst of all methods."""
        return max(each.whole.value for each in self.ratios.values())

    @property
    def upper(self) -> float:
        return max(each.whole.high for each in self.ratios.values())

    def wins(self) -> bool:
        return all(each.wins() for each in self.ratios.values()) and self.upper <= MOST_IN_FIRST_HALF

    def rank(self) -> float:
        return max(each.first.value for each in self.ratios.values())


def verdicts(by_method: Mapping[str, Times], native: str) -> list[Verdict]:
    """All candidates at one size, the best of the first half first."""
    specs = [name for name in next(iter(by_method.values())) if name != native]
    found = [
        Verdict(spec, {method: judge(times[spec], times[native]) for method, times in by_method.items()})
        for spec in specs
    ]
    return sorted(found, key=Verdict.rank)


@dataclass(frozen=True)
class Choice:
    """What is chosen for the block sizes from `least` to `most`, by measurement at `size`."""

    size: int
    least: int
    most: int
    verdict: Verdict


def holds_at(spec: str, found: list[Verdict]) -> bool:
    return any(each.spec == spec and each.upper < 1 for each in found)


def choose(by_size: Mapping[int, list[Verdict]]) -> list[Choice]:
    """The choices, by ascending size. A choice covers the sizes up to the geometric mean of its own and a
    measured neighbour at which it is faster than native, too; nothing beyond the measured sizes."""
    sizes = sorted(by_size)
    chosen = []
    for at, size in enumerate(sizes):
        lower = sizes[at - 1] if at > 0 else None
        upper = sizes[at + 1] if at + 1 < len(sizes) else None
        for verdict in by_size[size]:
            below = lower is not None and holds_at(verdict.spec, by_size[lower])
            above = upper is not None and holds_at(verdict.spec, by_size[upper])
            if verdict.wins() and (below or above or len(sizes) == 1):
                least = middle(lower, size) + 1 if below and lower is not None else size
                most = middle(size, upper) if above and upper is not None else size
                chosen.append(Choice(size, least, most, verdict))
                break
    return chosen


def middle(smaller: int, larger: int) -> int:
    """The geometric mean of two sizes."""
    return int(np.sqrt(float(max(smaller, 1)) * larger))
