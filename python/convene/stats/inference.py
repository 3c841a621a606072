# SPDX-License-Identifier: BSD-3-Clause
"""Statistical tests on observations: which of two is faster, and whether samples are independent draws.

From SciPy where it has them. The methods are those of Marendic et al. 2016, section 7: permutation test, runs
test, Levene's test, linear trend, autocorrelation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
RESAMPLES = 20_000  # of the permutation test
LEVEL = 0.01  # of the tests that warn
OUTLIER = 3.5  # modified z-scores above are flagged (Iglewicz and Hoaglin 1993)
LEAST = 10  # observations, for tests that need some


def p_value_of_pairs(first: Array, second: Array, seed: int = 1) -> float:
    """Permutation test of the hypothesis that two contenders, measured in the same repetitions, do not
    differ: which of a pair is whose is exchanged at random. The statistic is the median of the logarithms of
    ratios. One observation of each proves nothing."""
    if len(first) < 2:
        return 1.0
    result = stats.permutation_test(
        (np.log(first), np.log(second)),
        lambda a, b, axis: np.median(a - b, axis=axis),
        permutation_type="samples",
        n_resamples=RESAMPLES,
        vectorized=True,
        random_state=np.random.default_rng(seed),  # SciPy 1.15 calls it rng, and reads both
        batch=2000,
    )
    return float(result.pvalue)


def p_value_of_groups(first: Array, second: Array, seed: int = 1) -> float:
    """The same for two independent measurements: all observations are pooled and
    dealt out again. The statistic is the difference of the medians of logarithms."""
    if min(len(first), len(second)) < 2:
        return 1.0
    result = stats.permutation_test(
        (np.log(first), np.log(second)),
        lambda a, b, axis: np.median(a, axis=axis) - np.median(b, axis=axis),
        permutation_type="independent",
        n_resamples=RESAMPLES,
        vectorized=True,
        random_state=np.random.default_rng(seed),  # SciPy 1.15 calls it rng, and reads both
        batch=2000,
    )
    return float(result.pvalue)


def ratio_interval(
    first: Array, second: Array, confidence: float = 0.95, seed: int = 1
) -> tuple[float, float]:
    """Bootstrap interval of the ratio of medians of two independent samples."""
    result = stats.bootstrap(
        (first, second),
        lambda a, b, axis: np.median(a, axis=axis) / np.median(b, axis=axis),
        n_resamples=2000,
        confidence_level=confidence,
        method="percentile",
        vectorized=True,
        random_state=np.random.default_rng(seed),  # SciPy 1.15 calls it rng, and reads both
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def same_spread(*samples: Array) -> float:
    """Levene's test with medians (Brown and Forsythe): the p-value of equal variances."""
    return float(stats.levene(*samples, center="median").pvalue)


def is_outlier(sample: Array) -> NDArray[np.bool_]:
    """By the modified z-score: the distance from the median in units of the median absolute deviation."""
    scale = float(stats.median_abs_deviation(sample, scale="normal"))
    distance: Array = np.abs(sample - np.median(sample))
    return distance > OUTLIER * scale if scale > 0 else distance > 0


def runs_test(sample: Array) -> float:
    """Wald and Wolfowitz: the p-value of independence, from the number of runs above and below the median.
    Values on the median do not count. By the number's normal approximation."""
    signs = np.sign(sample - np.median(sample))
    above = signs[signs != 0] > 0
    plus, minus = int(above.sum()), int((~above).sum())
    if plus == 0 or minus == 0:
        return 1.0
    runs = 1 + int((above[1:] != above[:-1]).sum())
    total = plus + minus
    mean = 1 + 2 * plus * minus / total
    variance = (mean - 1) * (mean - 2) / (total - 1)
    if variance <= 0:
        return 1.0
    # With a correction for continuity.
    distance = max(abs(runs - mean) - 0.5, 0.0)
    return float(2 * stats.norm.sf(distance / np.sqrt(variance)))


def corrected(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number, in the same order: the least false discovery rate at which each is
    a discovery (Benjamini and Hochberg 1995). SciPy has it since version 1.11."""
    if not p_values:
        return []
    falling = np.argsort(p_values)[::-1]
    ranks = np.arange(len(p_values), 0, -1)
    found = np.empty(len(p_values))
    found[falling] = np.minimum.accumulate(np.asarray(p_values)[falling] * len(p_values) / ranks)
    return [float(p) for p in np.minimum(found, 1.0)]


@dataclass(frozen=True)
class Trend:
    """A drift over the repetitions: how much of the median from the first to the last one, and the p-value of
    there being none (Theil and Sen's slope, Kendall's tau)."""

    change: float
    p_value: float


def trend(sample: Array) -> Trend:
    order = np.arange(len(sample))
    if np.ptp(sample) == 0:
        return Trend(0.0, 1.0)
    slope = float(stats.theilslopes(sample, order).slope)
    tau = stats.kendalltau(order, sample)
    return Trend(slope * (len(sample) - 1) / float(np.median(sample)), float(tau.pvalue))


def autocorrelation(sample: Array, lags: int = 20) -> Array:
    """Of the ranks of the values, so that single outliers do not decide, for lags 1, 2, …"""
    centred = stats.rankdata(sample) - (len(sample) + 1) / 2
    power = float(np.dot(centred, centred))
    most = min(lags, len(sample) - 2)
    if power == 0 or most < 1:
        return np.zeros(0)
    return np.array([np.dot(centred[lag:], centred[:-lag]) / power for lag in range(1, most + 1)])


def variation(sample: Array) -> float:
    """The coefficient of variation; 0 of a single observation."""
    if len(sample) < 2:
        return 0.0
    return float(np.std(sample, ddof=1) / np.mean(sample))


@dataclass(frozen=True)
class Quality:
    """Tests the assumption of intervals and tests: independent draws from one distribution."""

    observations: int
    outliers: int
    variation: float
    runs: float  # p-values
    trend: Trend
    correlation: float  # with the next observation
    normal: float  # Shapiro and Wilk's p-value

    @property
    def is_independent(self) -> bool:
        return self.runs >= LEVEL

    @property
    def is_stationary(self) -> bool:
        return self.trend.p_value >= LEVEL


def quality(sample: Array) -> Quality:
    lags = autocorrelation(sample, 1)
    is_constant = len(sample) < 3 or np.ptp(sample) == 0
    return Quality(
        len(sample),
        int(is_outlier(sample).sum()),
        variation(sample),
        runs_test(sample),
        trend(sample),
        float(lags[0]) if len(lags) else 0.0,
        1.0 if is_constant else float(stats.shapiro(sample).pvalue),
    )
