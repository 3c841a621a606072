# SPDX-License-Identifier: BSD-3-Clause
"""Bootstrap intervals of medians and means."""

from dataclasses import dataclass

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


def estimate(value: float, samples: Array) -> Estimate:
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(samples, [tail, 100 - tail])
    return Estimate(float(value), float(low), float(high))


def summed_up(values: Array, by: str) -> Array:
    """Medians or means along the last axis."""
    result: Array = np.median(values, axis=-1) if by == "median" else np.mean(values, axis=-1)
    return result


def resample(seconds: Array, by: str, seed: int = 1) -> Array:
    """Medians or means of resampled repetitions: (contenders, samples). All contenders get the same
    repetitions, since these were measured side by side: what disturbed one disturbed its neighbours, and goes
    out of a ratio."""
    number = seconds.shape[1]
    drawn = np.random.default_rng(seed).integers(0, number, (SAMPLES, number))
    return np.stack([summed_up(own[drawn], by) for own in seconds])


def resample_medians(seconds: Array, seed: int = 1) -> Array:
    return resample(seconds, "median", seed)
