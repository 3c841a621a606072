# SPDX-License-Identifier: BSD-3-Clause
"""convene predict: winners, crossovers, segments and mappings."""

from math import ceil
from typing import Any

import pytest
from convene import _core

Convene = Any


def test_winners_are_those_of_single_predictions(convene: Convene) -> None:
    where = ("--platform", "metropolis", "--nodes", 4, "--bytes", "8,16KiB,1MiB", "--json")
    rows = convene("predict", "allgather", "-p", "4,5,16", "--winners", *where).json["rows"]
    assert [row["procs"] for row in rows] == [4, 5, 16]
    for row in rows:
        one = convene("predict", "allgather", "-p", row["procs"], *where).json
        for i, winner in enumerate(row["winners"]):
            costs = sorted(each["seconds"][i] for each in one["algorithms"])
            assert winner["cost"] == costs[0]
            assert winner["runner_up"] == costs[1]
            assert seconds_of(one, winner["algorithm"])[i] == costs[0]


def seconds_of(found: Any, algorithm: str) -> list[float]:
    values: list[float] = next(one for one in found["algorithms"] if one["algorithm"] == algorithm)["seconds"]
    return values


def test_a_map_has_a_letter_for_every_winner(convene: Convene) -> None:
    out = convene(
        *("predict", "allgather", "--platform", "metropolis", "-p", "2-9", "--nodes", 4),
        *("--bytes", "8:1MiB", "--winners"),
    ).out
    lines = [line.split() for line in out.splitlines()]
    rows = [line[1] for line in lines if line and line[0].isdigit()]
    assert len(rows) == 8
    assert {len(row) for row in rows} == {18}
    named = {line[0]: int(line[2]) for line in lines if len(line) == 5 and line[3] == "of"}
    assert {letter: sum(row.count(letter) for row in rows) for letter in named} == named
    assert sum(named.values()) == 8 * 18
    assert set("".join(rows)) == named.keys()


def test_crossovers_are_exact(convene: Convene) -> None:
    where = ("-a", "ring,recursive_doubling", "--platform", "metropolis", "-p", 16)
    found = convene("predict", "allgather", *where, "--bytes", "1:1MiB:64", "--crossovers", "--json").json
    assert found["first"] == "recursive_doubling"
    (change,) = found["changes"]
    assert change["algorithm"] == "ring"
    sizes = f"{change['bytes'] - 1},{change['bytes']}"
    best = convene("predict", "allgather", *where, "--bytes", sizes, "--json").json["best"]
    assert best == ["recursive_doubling", "ring"]
    # In whichever order the sizes are written.
    again = convene("predict", "allgather", *where, "--bytes", "1MiB,1", "--crossovers", "--json").json
    assert again == found


@pytest.mark.parametrize("spec", ["hier(ring,linear)", "remap(ring)", "segmented_ring;segments=3"])
def test_what_cannot_be_tuned_is_refused(convene: Convene, spec: str) -> None:
    where = ("--platform", "metropolis", "-p", 16, "--nodes", 2, "--bytes", 8, "--tune")
    assert "--tune" in convene("predict", "allgather", *where, "-a", spec).complaint


def test_the_best_number_of_segments_is_that_of_theory(convene: Convene) -> None:
    """A chain of P ranks under Hockney: P - 2 + k steps, each a message of m/k bytes."""
    sizes, procs = [1 << 14, 1 << 20], 8
    found = convene(
        *("predict", "bcast", "-a", "chain", "--platform", "curie", "-p", procs, "-m", "hockney", "--tune"),
        *("--bytes", ",".join(map(str, sizes)), "--json"),
    ).json["algorithms"]["chain"]
    alpha, beta = 2.66e-6, 4.8179e-10
    for size, best in zip(sizes, found, strict=True):
        costs = {k: (procs - 2 + k) * (alpha + beta * ceil(size / k)) for k in (1, 2, 4, 8, 16, 32, 64)}
        segments = min(costs, key=lambda k: costs[k])
        assert _core.parameters("bcast", best["best"]).get("segments") == segments
        assert best["cost"] == pytest.approx(costs[segments])


def test_of_equally_cheap_ones_that_wins_which_minds_no_arrivals(convene: Convene) -> None:
    """Where all come together, bdr is the ring."""
    arguments = ("predict", "allgather", "--platform", "metropolis", "-p", "2-16", "--nodes", "4")
    found = convene(*arguments, "--algorithms", "bdr,ring", "--winners", "--json").json
    winners = {one["algorithm"] for row in found["rows"] for one in row["winners"]}
    assert winners == {"ring"}
