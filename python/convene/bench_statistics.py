# SPDX-License-Identifier: BSD-3-Clause
"""What a measurement's observations say: medians and their ratios, each with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLES = 2000  # of the bootstrap
CONFIDENCE = 0.95

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value and its confidence interval."""

    value: float
    low: float
    high: float

    def as_json(self, name: str) -> dict[str, float]:
        return {name: self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Row:
    """One contender at one size: seconds per call, and how they compare to those of others."""

    size: int
    name: str
    observations: int
    seconds: Estimate
    ratios: dict[str, Estimate]

    def as_json(self) -> dict[str, Any]:
        return {
            "bytes": self.size,
            "algorithm": self.name,
            "observations": self.observations,
            **self.seconds.as_json("median"),
            "ratios": {name: ratio.as_json("ratio") for name, ratio in self.ratios.items()},
        }


def estimate(value: float, samples: Array) -> Estimate:
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return Estimate(float(value), float(low), float(high))


def resample_medians(seconds: Array, seed: int = 1) -> Array:
    """Medians of resampled repetitions: (contenders, samples). All contenders get the same repetitions, since
    these were measured side by side: what disturbed one disturbed its neighbours, and goes out of a ratio."""
    number = seconds.shape[1]
    drawn = np.random.default_rng(seed).integers(0, number, (SAMPLES, number))
    return np.stack([np.median(own[drawn], axis=1) for own in seconds])


def summarize(size: dict[str, Any], against: Sequence[str]) -> list[Row]:
    """The rows of one size of a result, with ratios of medians to those of each reference."""
    names = [contender["name"] for contender in size["contenders"]]
    seconds = np.array([contender["seconds"] for contender in size["contenders"]])
    medians, samples = np.median(seconds, axis=1), resample_medians(seconds)
    references = {name: names.index(name) for name in against if name in names}
    return [
        Row(
            size["bytes"],
            name,
            seconds.shape[1],
            estimate(medians[own], samples[own]),
            {
                reference: estimate(medians[own] / medians[other], samples[own] / samples[other])
                for reference, other in references.items()
                if other != own
            },
        )
        for own, name in enumerate(names)
    ]


def summarize_all(result: dict[str, Any], against: Sequence[str]) -> list[Row]:
    return [row for size in result["sizes"] for row in summarize(size, against)]
