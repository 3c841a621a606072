# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms of the catalogue by collective."""

from collections.abc import Iterable

from convene import _core
from convene.base import core_types


def known_algorithms(collectives: Iterable[str]) -> list[core_types.Algorithm]:
    """The algorithms of these collectives, each once, in the catalogue's order. Those of different families
    may have the same name."""
    found = {
        (algorithm["name"], *algorithm["collectives"]): algorithm
        for name in collectives
        for algorithm in _core.algorithms(name)
    }
    return list(found.values())


def is_composed(collective: str, spec: str) -> bool:
    """Whether an algorithm runs others, by the nodes of ranks."""
    name = spec.partition("(")[0].partition(";")[0]
    return any(known["parts"] for known in _core.algorithms(collective) if known["name"] == name)


def depends_on_nodes(collective: str, spec: str) -> bool:
    """Whether a plan may depend on which ranks share a node."""
    name = spec.partition("(")[0].partition(";")[0]
    known = {algorithm["name"]: algorithm for algorithm in _core.algorithms(collective)}
    own = known[name]
    return (
        is_composed(collective, spec)
        or own["needs_whole_graph"]
        or own["prefers_nodes"]
        or own["shares_memory"]
    )


def arrival_source(collective: str, spec: str) -> str:
    """How an algorithm, or a part of it, gets to know arrivals: none, forecast or messages."""
    return _core.arrival_source(collective, spec)


def uses_forecast(collective: str, spec: str) -> bool:
    return arrival_source(collective, spec) == "forecast"
