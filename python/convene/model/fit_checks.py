# SPDX-License-Identifier: BSD-3-Clause
"""Kinks in the times of messages, and cross-checks of fitted parameters."""

from dataclasses import dataclass

import numpy as np

from convene.model import curves, fits
from convene.model.measured_series import Observations, Sample, Series


@dataclass(frozen=True)
class Kink:
    """A kink: the time of an operation jumps between two adjacent sizes."""

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
    """Cross-checks: LogGP's parameters by other methods."""
    trip = curves.half_trip(sample, channel)
    send = float(sample.curve("send", channel).at(1.0))
    receive = float(sample.curve("receive", channel).at(1.0))
    steps = curves.gap(sample, channel)
    plogp = fits.fit_plogp(sample, channel)
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
