# SPDX-License-Identifier: BSD-3-Clause
"""The statistics of measurements, on made-up samples of which the truth is known: levels of tests, power,
coverage of intervals."""

from collections.abc import Callable

import numpy as np
import pytest
from convene.stats import inference
from convene.stats.bootstrap import resample
from convene.stats.inference import Array
from scipy import stats


def samples(number: int, size: int = 40, seed: int = 11) -> list[Array]:
    """Independent ones, skewed as run times are."""
    random = np.random.default_rng(seed)
    return [np.exp(random.normal(0, 0.3, size)) for _ in range(number)]


def rejected(p_values: list[float], level: float) -> float:
    return float(np.mean([p < level for p in p_values]))


@pytest.mark.parametrize(
    "test",
    [inference.runs_test, lambda sample: inference.trend(sample).p_value],
    ids=["runs", "trend"],
)
def test_independent_samples_are_rarely_suspected(test: Callable[[Array], float]) -> None:
    share = rejected([test(sample) for sample in samples(600)], 0.05)
    assert 0.02 < share < 0.08


def test_corrected_p_values_are_those_of_scipy() -> None:
    control = pytest.importorskip("scipy", minversion="1.11").stats.false_discovery_control
    random = np.random.default_rng(3)
    for number in (1, 2, 5, 40):
        p_values = [*map(float, random.uniform(0, 1, number) ** 3), 0.01, 0.01]
        assert inference.corrected(p_values) == pytest.approx(control(p_values), rel=1e-12)
    assert inference.corrected([]) == []


def test_runs_that_are_not_independent_are_found() -> None:
    random = np.random.default_rng(5)
    walks = [10 + np.cumsum(random.normal(0, 1, 60)) * 0.1 for _ in range(50)]
    assert rejected([inference.runs_test(walk) for walk in walks], 0.01) > 0.9
    assert all(inference.autocorrelation(walk)[0] > 0.3 for walk in walks)
    alternating = np.array([1.0, 2.0] * 30)
    assert inference.runs_test(alternating) < 1e-6
    assert inference.runs_test(np.ones(30)) == 1.0


def test_the_runs_test_by_hand() -> None:
    """10 above, 10 below, 6 runs: mean 11, variance 90/19, z = (5 - 0.5)/sqrt(90/19)."""
    sample = np.array([2.0] * 4 + [1.0] * 3 + [2.0] * 3 + [1.0] * 3 + [2.0] * 3 + [1.0] * 4)
    expected = 2 * stats.norm.sf(4.5 / np.sqrt(90 / 19))
    assert inference.runs_test(sample) == pytest.approx(expected)


def test_trends_are_found_and_measured() -> None:
    for sample in samples(20, 60):
        drifting = sample * 0.05 + np.linspace(1, 1.5, 60)
        found = inference.trend(drifting)
        assert found.p_value < 1e-6
        assert 0.3 < found.change < 0.5  # of the median, 1.25 or so


def test_pairs_that_do_not_differ_keep_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disturbance that both share must not matter."""
    monkeypatch.setattr(inference, "RESAMPLES", 400)
    random = np.random.default_rng(3)
    p_values = []
    for one, other in zip(samples(300, seed=1), samples(300, seed=2), strict=True):
        shared = 1 + 5 * (random.random(40) < 0.2)
        p_values.append(inference.p_value_of_pairs(one * shared, other * shared))
    assert 0.02 < rejected(p_values, 0.05) < 0.08


def test_pairs_that_differ_are_found() -> None:
    random = np.random.default_rng(4)
    shared = np.exp(random.normal(0, 1, 40))
    one = shared * np.exp(random.normal(0, 0.05, 40))
    other = shared * 1.05 * np.exp(random.normal(0, 0.05, 40))
    assert inference.p_value_of_pairs(one, other) < 0.01
    # The same without pairs: what they share hides it.
    assert inference.p_value_of_groups(one, random.permutation(other)) > 0.1
    assert inference.p_value_of_pairs(one, one) == 1.0


def test_groups_that_do_not_differ_keep_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "RESAMPLES", 400)
    pairs = zip(samples(300, seed=1), samples(300, 25, seed=2), strict=True)
    p_values = [inference.p_value_of_groups(one, other) for one, other in pairs]
    assert 0.02 < rejected(p_values, 0.05) < 0.08


def test_intervals_of_ratios_cover() -> None:
    held = 0
    for one, other in zip(samples(150, seed=1), samples(150, 25, seed=2), strict=True):
        low, high = inference.ratio_interval(one * 1.3, other)
        held += low <= 1.3 <= high
    assert 0.89 < held / 150 <= 1.0


@pytest.mark.parametrize("by", ["median", "mean"])
def test_intervals_of_medians_and_means_cover(by: str) -> None:
    """Means of skewed samples are covered a little less often than promised: that is known of the percentile
    bootstrap."""
    truth = 1.0 if by == "median" else float(np.exp(0.3**2 / 2))
    held = 0
    for sample in samples(300):
        low, high = np.percentile(resample(sample[np.newaxis], by)[0], [2.5, 97.5])
        held += low <= truth <= high
    assert 0.89 < held / 300 < 0.99


def test_levene() -> None:
    one, other = samples(2, 200)
    assert inference.same_spread(one, other) > 0.01
    assert inference.same_spread(one, other * 3) < 1e-6


def test_outliers() -> None:
    sample = np.concatenate([np.linspace(1, 1.1, 30), [5.0]])
    assert inference.is_outlier(sample).tolist() == [False] * 30 + [True]
    assert not inference.is_outlier(np.ones(5)).any()
    assert inference.is_outlier(np.array([1.0, 1.0, 1.0, 1.0, 2.0])).tolist() == [False] * 4 + [True]


def test_quality_of_a_sample() -> None:
    (sample,) = samples(1)
    found = inference.quality(sample)
    assert found.is_independent
    assert found.is_stationary
    assert found.variation == pytest.approx(np.std(sample, ddof=1) / np.mean(sample))
    drifting = inference.quality(np.linspace(1, 2, 40))
    assert not drifting.is_independent
    assert not drifting.is_stationary
    assert inference.quality(np.ones(5)).normal == 1.0
