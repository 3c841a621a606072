# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of τ-Lop from observations."""

import numpy as np

from convene.model import curves
from convene.model.fit_types import TauLop
from convene.model.measured_series import Array, Curve, Sample


def fit_taulop_memory(sample: Sample, channel: str) -> TauLop:
    """o = RTT(0)/2 (7.2); L(m, 1) from round trips, L(m, τ) from rings (7.4); L_c from copies through shared
    memory."""
    trip = curves.half_trip(sample, channel)
    overhead = float(trip.times[0])
    table = {1: Curve(trip.bytes, (trip.times - overhead) / 2)}
    for tau in sample.taus("ring", channel):
        ring = sample.curve("ring", channel, tau=tau)
        table[tau] = Curve(ring.bytes, (ring.times - overhead) / 2)
    table = with_collectives(sample, overhead, curves.ordered(table))
    shared = {tau: sample.curve("shared", channel, tau=tau) for tau in sample.taus("shared", channel)}
    found: TauLop = {"o": overhead, "transport": "copy_in_copy_out", "L": curves.ordered(table)}
    if 1 in shared:
        found["L_c"] = curves.ordered(shared)
    return found


def shares(known: list[int], tau: int) -> dict[int, float]:
    """L(m, τ) as a combination of those that are known: as models do it between and beyond them."""
    if tau in known or len(known) == 1:
        return {tau if tau in known else known[0]: 1.0}
    above = next((one for one in known if one > tau), known[-1])
    below = max((one for one in known if one < tau), default=known[0]) if above > tau else known[0]
    share = (tau - below) / (above - below)
    return {below: 1 - share, above: share}


def equations(
    sample: Sample, overhead: float, known: list[int], size: float
) -> list[tuple[Array, float, float]]:
    """Of the collectives at this size: factors of L(m, τ), what they must add up to, and the time it took."""
    found = []
    for series, curve in sample.find("collective", "all"):
        terms = sample.observations.terms.get((series.algorithm, series.tau))
        if terms is None or size not in curve.bytes:
            continue
        time = float(curve.at(size))
        rest, factors = time, np.zeros(len(known))
        for name, _, tau, factor in terms:
            if name == "L":
                for one, share in shares(known, tau).items():
                    factors[known.index(one)] += factor * share
            elif name == "o":
                rest -= factor * overhead
            else:
                local = curves.fit_local(sample, "copy" if name == "c" else "combine")
                rest -= factor * float(curves.between(local, np.array([size]), min(tau, max(local)))[0])
        found.append((factors, rest, time))
    return found


def with_collectives(sample: Sample, overhead: float, table: dict[int, Curve]) -> dict[int, Curve]:
    """L by least squares of relative errors over rings and collectives (7.7).

    Solved at the collectives' sizes; between them the rings are scaled alike.
    """
    from scipy import optimize  # slow import

    known = sorted(table)
    sizes = sorted(
        {
            float(size)
            for series, curve in sample.find("collective", "all")
            if (series.algorithm, series.tau) in sample.observations.terms
            for size in curve.bytes
        }
    )
    if not sizes:
        return table
    factors = []
    for size in sizes:
        alone = np.array([float(table[tau].at(size)) for tau in known])
        rows = [*np.diag(2 / (overhead + 2 * alone))]
        sides = [*(2 * alone / (overhead + 2 * alone))]
        for row, rest, time in equations(sample, overhead, known, size):
            rows.append(row / time)
            sides.append(max(0.0, rest) / time)
        solution, _ = optimize.nnls(np.array(rows), np.array(sides))
        factors.append(np.where(alone > 0, solution / np.maximum(alone, 1e-15), 1.0))
    logs = np.log(np.maximum(sizes, 1))
    return {
        tau: Curve(
            table[tau].bytes,
            table[tau].times
            * np.interp(np.log(np.maximum(table[tau].bytes, 1)), logs, [row[i] for row in factors]),
        )
        for i, tau in enumerate(known)
    }


def fit_taulop_network(sample: Sample, channel: str, memory: dict[int, Curve] | None) -> TauLop:
    """o from round trips (7.2) and, where senders wait, from synchronous messages (7.3); L by (7.6), from
    messages one way and back; L_sr from exchanges, in the same way. Without `memory` (each node has one
    rank), the transfer of the network is the whole message."""
    trip = curves.half_trip(sample, channel)
    eager = float(trip.times[0])
    waiting = max(eager, float(sample.curve("synchronous", channel).times[0]))
    threshold = sample.observations.protocols.get(channel)
    if not threshold:  # all messages go alike
        overhead = Curve(np.array([0.0]), np.array([eager if threshold is None else waiting]))
    else:
        overhead = Curve(np.array([0.0, threshold, threshold]), np.array([eager, eager, waiting]))
    spent = eager if threshold is None else np.where(trip.bytes < threshold, eager, waiting)
    whole = {1: trip.times}
    for tau in sample.taus("cross", channel):
        whole[tau] = sample.curve("cross", channel, tau=tau).times

    def transfers(whole: dict[int, Array]) -> dict[int, Curve]:
        def copies(tau: int) -> Array | float:
            return 2 * curves.between(memory, trip.bytes, tau) if memory else 0.0

        found = {tau: Curve(trip.bytes, times - spent - copies(tau)) for tau, times in whole.items()}
        return curves.ordered(found, whole)

    exchanged = {
        tau: sample.curve("exchange", channel, tau=tau).times for tau in sample.taus("exchange", channel)
    }
    found: TauLop = {
        "o": overhead,
        "transport": "copies" if memory else "rdma",
        "L": transfers(whole),
    }
    if 1 in exchanged:
        found["L_sr"] = transfers(exchanged)
    return found
