# SPDX-License-Identifier: BSD-3-Clause
"""What convene bench computes from observations: ratios with their intervals, metrics by name, absorption."""

import numpy as np
from convene.base.result_types import Cell, Contender
from convene.bench import metrics
from convene.bench.summary import summarize
from convene.stats.bootstrap import resample_medians


def observations(*factors: float, number: int = 60) -> Cell:
    """Contenders that differ by a factor, under a disturbance that meets all of them in a repetition."""
    random = np.random.default_rng(7)
    disturbance = 1 + 3 * (random.random(number) < 0.3)
    rows = [factor * disturbance * (1 + 0.01 * random.random(number)) for factor in factors]
    return {
        "bytes": 8,
        "contenders": [{"name": str(i), "seconds": list(row)} for i, row in enumerate(rows)],
    }


def test_ratios_stay_sharp_under_shared_disturbances() -> None:
    rows = summarize(observations(1.0, 1.1), ["0"])
    ratio = rows[1].ratios["0"]
    assert ratio.low < 1.1 < ratio.high
    assert ratio.high - ratio.low < 0.02
    assert rows[1].seconds.low <= rows[1].seconds.value <= rows[1].seconds.high
    assert "0" not in rows[0].ratios


def test_intervals_contain_the_truth_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(100):
        pair = np.exp(random.normal(0, 0.1, (2, 40))) * np.array([[1.0], [1.2]])
        samples = resample_medians(pair)
        low, high = np.percentile(samples[1] / samples[0], [2.5, 97.5])
        held += low <= 1.2 <= high
    assert 85 <= held <= 100


def test_metrics_by_their_definitions() -> None:
    """Two calls of three ranks, by hand, in nanoseconds."""
    contender: Contender = {
        "name": "ring",
        "seconds": [40e-9, 12e-9],
        "arrival": [[0, 10, 20], [0, 0, 0]],
        "exit": [[40, 40, 50], [6, 9, 12]],
    }
    cell: Cell = {"bytes": 8, "calls": 1, "contenders": [contender]}
    expected = {
        "max": [40, 12],
        "nbcbench": [40, 12],
        "osu": [100 / 3, 9],
        "osu_min": [30, 6],
        "osu_max": [40, 12],
        "imb": [100 / 3, 9],
        "elapsed": [100 / 3, 9],
        "run_time": [50, 12],
        "last_exit": [30, 12],
        "waiting": [10, 0],
    }
    assert set(expected) == set(metrics.METRICS)
    for name, numbers in expected.items():
        found = metrics.values(cell, metrics.METRICS[name])[0]
        np.testing.assert_allclose(found, np.array(numbers) * 1e-9, err_msg=name)


def test_absorption_by_hand() -> None:
    """Balanced 12 ns, 50 ns with the last rank 20 ns late: 12 - 50 + 20."""
    balanced: Contender = {"name": "a", "seconds": [], "arrival": [[0, 0, 0]], "exit": [[6, 9, 12]]}
    late: Contender = {"name": "a", "seconds": [], "arrival": [[0, 10, 20]], "exit": [[40, 40, 50]]}
    found = metrics.absorbed(balanced, late)
    np.testing.assert_allclose(found.absorption, [-18e-9])
    np.testing.assert_allclose(found.normalised, [-1.5])
    np.testing.assert_allclose(found.imbalance, [20e-9])


def test_missed_deadlines_do_not_count() -> None:
    cell: Cell = {
        "bytes": 8,
        "contenders": [
            {"name": "a", "seconds": [1.0, 2.0, 3.0], "valid": [1, 0, 1]},
            {"name": "b", "seconds": [4.0, 5.0, 6.0], "valid": [1, 1, 1]},
        ],
    }
    found = metrics.values(cell, metrics.METRICS["max"])
    assert found.tolist() == [[1.0, 3.0], [4.0, 6.0]]
