# SPDX-License-Identifier: BSD-3-Clause
"""Curves and straight lines through observations, and the costs read from them."""

import numpy as np

from convene.model.measured_series import Array, Curve, Sample


def line(x: Array, times: Array) -> tuple[float, float]:
    """fixed + slope · x with the least sum of squared relative errors, neither of them negative."""
    from scipy import optimize  # slow import

    (fixed, slope), _ = optimize.nnls(np.column_stack([np.ones_like(x), x]) / times[:, None], np.ones_like(x))
    return float(fixed), float(slope)


def nondecreasing(curve: Curve, measured: Array | None = None) -> Curve:
    """The closest curve (squared relative errors) that never falls and is nowhere negative. Where the times
    are differences, `measured` is what they are differences of: errors are relative to that. (A difference
    near 0, or below, would else count for more than all others.)"""
    times = np.maximum(curve.times, 0.0)
    size = times if measured is None else measured
    weights = 1 / np.maximum(size, size.max() * 1e-6 + 1e-12) ** 2
    return Curve(curve.bytes, isotonic(times, weights))


def isotonic(values: Array, weights: Array) -> Array:
    """The closest values that never fall, in weighted least squares: neighbours that fall are pooled at their
    mean (Ayer et al. 1955). SciPy has it since version 1.12."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many values; means rise
    for value, weight in zip(values, weights, strict=True):
        mean, total, count = float(value), float(weight), 1
        while pools and pools[-1][0] >= mean:
            other, its_weight, its_count = pools.pop()
            mean = (mean * total + other * its_weight) / (total + its_weight)
            total, count = total + its_weight, count + its_count
        pools.append((mean, total, count))
    return np.repeat([mean for mean, _, _ in pools], [count for _, _, count in pools])


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


def free_messages(times: Curve, overhead: float) -> tuple[int, float]:
    """f and g of LogfP: n messages take max{(n - 1)·o, (n - f)·g} longer than none; least squares over n."""
    from scipy import optimize  # slow import

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
    # More than one free message only if the fit is clearly better.
    plain = found[0]
    best_error, free, g = min(found)
    return (free, g) if best_error < 0.8 * plain[0] else (plain[1], plain[2])


def issue_cost(sample: Sample, channel: str) -> float:
    """τ of Sparbit's formula: what one more message of a round costs its sender; the slope of n sends."""
    sends = sample.by_messages("sends", channel)
    slope, _ = np.polyfit(sends.bytes, sends.bytes * sends.times, 1)
    return max(0.0, float(slope))


def ordered(table: dict[int, Curve], measured: dict[int, Array] | None = None) -> dict[int, Curve]:
    """Curves that never fall when the size grows, nor when τ grows. `measured`: see `nondecreasing`."""
    found: dict[int, Curve] = {}
    least: Array = np.zeros(1)
    for tau in sorted(table):
        curve = nondecreasing(table[tau], measured[tau] if measured else None)
        least = np.maximum(curve.times, least)
        found[tau] = Curve(curve.bytes, least)
    return found


def between(table: dict[int, Curve], sizes: Array, tau: int) -> Array:
    """L(m, τ) for any τ up to the largest."""
    rows = np.array([table[known].at(sizes) for known in sorted(table)])
    known = np.array(sorted(table), dtype=float)
    return np.array([np.interp(tau, known, column) for column in rows.T])


def fit_local(sample: Sample, operation: str) -> dict[int, Curve]:
    return ordered(
        {tau: sample.curve(operation, "local", tau=tau) for tau in sample.taus(operation, "local")}
    )
