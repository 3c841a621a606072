# SPDX-License-Identifier: BSD-3-Clause
"""The costs of reductions that Marendic et al. 2016 print (table 3), from the schedules.

With N segments of m/N bytes, R rounds cost R(α + m/N (β + γ)). The schedules say R; over real N the
minimum of (c + N)(α + m/N (β + γ)) is cα + 2√(cα m(β + γ)) + m(β + γ).
"""

from math import ceil, log2, sqrt

import pytest
from convene import _core

ALPHA, BETA, GAMMA = 2.66e-6, 4.8179e-10, 1.6654e-10  # Curie
PROCS = [4, 8, 16, 64, 128]
SIZES = [1 << 10, 128 << 10, 4 << 20, 40 << 20]


def rounds(spec: str, procs: int) -> int:
    request = _core.ScheduleRequest(collective="reduce", spec=spec, procs=procs)
    return int(_core.statistics(request)["rounds"])


def beyond_segments(algorithm: str, procs: int) -> int:
    """The c of R = c + N, which must be the same for all (even) N."""
    (beyond,) = {rounds(f"{algorithm};segments={n}", procs) - n for n in (2, 4, 8, 16, 32, 64)}
    return beyond


def cheapest(c: int, size: int) -> float:
    bandwidth = size * (BETA + GAMMA)
    return c * ALPHA + 2 * sqrt(c * ALPHA * bandwidth) + bandwidth


@pytest.mark.parametrize("procs", PROCS)
@pytest.mark.parametrize("size", SIZES)
def test_clairvoyant_and_the_pipeline_as_printed(procs: int, size: int) -> None:
    n, bandwidth = ceil(log2(procs)), size * (BETA + GAMMA)
    printed = {
        "clairvoyant": (n - 1) * ALPHA + 2 * sqrt((n - 1) * ALPHA) * sqrt(bandwidth) + bandwidth,
        "pipeline": (procs - 2) * ALPHA + 2 * sqrt((procs - 2) * ALPHA) * sqrt(bandwidth) + bandwidth,
    }
    for algorithm, seconds in printed.items():
        assert cheapest(beyond_segments(algorithm, procs), size) == pytest.approx(seconds)


@pytest.mark.parametrize("procs", PROCS)
def test_no_number_of_segments_is_cheaper_than_the_minimum(procs: int) -> None:
    size = 4 << 20
    costs = [
        rounds(f"clairvoyant;segments={n}", procs) * (ALPHA + size / n * (BETA + GAMMA))
        for n in (1, 2, 8, 16, 64, 256, 1024)
    ]
    assert min(costs) >= cheapest(ceil(log2(procs)) - 1, size)
    assert min(costs) <= 1.25 * cheapest(ceil(log2(procs)) - 1, size)


@pytest.mark.parametrize("procs", PROCS)
def test_rounds_of_the_others_as_printed(procs: int) -> None:
    n = ceil(log2(procs))
    assert rounds("binomial", procs) == n
    assert rounds("butterfly", procs) == 2 * n
    assert rounds("ring", procs) == procs - 1 + n


@pytest.mark.parametrize("procs", PROCS)
def test_two_trees_take_half_the_latency_that_is_printed(procs: int) -> None:
    """2n - 1 rounds besides the segments, in which both trees are used at once; printed are 4(n - 1), and mγ
    twice. The printed root, 4√((n - 1)α)√(βm/2) = 2√(2(n - 1)αβm), is that of c = 2(n - 1) without γ."""
    n = ceil(log2(procs))
    assert beyond_segments("two_tree", procs) == 2 * n - 1
    size = 4 << 20
    printed = (
        4 * (n - 1) * ALPHA
        + 4 * sqrt((n - 1) * ALPHA) * sqrt(BETA * size / 2)
        + size * BETA
        + 2 * size * GAMMA
    )
    assert cheapest(2 * n - 1, size) < printed


@pytest.mark.parametrize(("radix", "procs"), [((4, 4, 8), 128), ((2, 2, 2), 8), ((4, 4), 16), ((8,), 8)])
def test_radix_k_gathers_by_its_radix(radix: tuple[int, ...], procs: int) -> None:
    """The sum of kᵢ - 1 rounds for the reduce-scatter, as printed; then the root of each group receives from
    all others of it in one round, r rounds in all, where the source has n of a binomial gather."""
    spec = "radix_k;radix=" + "x".join(map(str, radix))
    assert rounds(spec, procs) == sum(k - 1 for k in radix) + len(radix)
