# SPDX-License-Identifier: BSD-3-Clause
"""Candidates: the algorithms that tuning measures against native."""

from convene import _core
from convene.base import core_types

# Parameter values that are measured in addition to the defaults.
VARIANTS = {
    "sparbit": ("send=packed",),
    "bruck": ("ports=2",),
    "chain": ("segments=8", "segments=32"),
}


def is_general(known: core_types.Algorithm, nodes: int) -> bool:
    """True if an algorithm needs no forecasts and no neighbours, and no mapping if there is one node."""
    if known["native"] or known["arrival_source"] != "none" or known["needs_whole_graph"]:
        return False
    return not known["parts"] or nodes > 1


def variants(collective: str, name: str) -> list[str]:
    """The specs of an algorithm: with default parameters, and its variants."""
    known = {each["name"]: each for each in _core.algorithms(collective)}[name]
    parameters = {parameter["name"] for parameter in known["parameters"]}
    texts = [name, *(f"{name};{each}" for each in VARIANTS.get(name, ()) if each.split("=")[0] in parameters)]
    return [_core.spec(collective, text) for text in texts]


def candidates(collective: str, procs: int, nodes: int) -> list[str]:
    """All specs that support these numbers of ranks and nodes."""
    found = []
    for known in _core.algorithms(collective):
        if not is_general(known, nodes) or (known["shares_memory"] and nodes > 1):
            continue
        found += [
            spec for spec in variants(collective, known["name"]) if not _core.unmet(collective, spec, procs)
        ]
    return list(dict.fromkeys(found))
