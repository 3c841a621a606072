# SPDX-License-Identifier: BSD-3-Clause
"""Collectives: their families, and what distinguishes them."""

from collections.abc import Iterable

from convene import _core
from convene._core import RequestError

# What sizes are of: a rank's block, or, of these, the whole vector. A barrier has none.
OF_VECTORS = tuple(name for name in _core.collectives() if _core.has_one_vector(name))
WITHOUT_SIZES = ("barrier",)

# Which of them combine items, and which have blocks of unequal size.
REDUCTIONS = tuple(name for name in _core.collectives() if _core.is_reduction(name))
IRREGULAR = tuple(name for name in _core.collectives() if _core.has_unequal_blocks(name))


def family(collective: str) -> str:
    """A collective's form with equal blocks: allgather of allgatherv. Both have the same algorithms."""
    equal = collective[:-1] if collective.endswith(("v", "w")) else collective
    return equal if equal in _core.collectives() else collective


def families(collectives: Iterable[str]) -> dict[str, list[str]]:
    """The collectives by their families, in the catalogue's order."""
    found: dict[str, list[str]] = {}
    for name in collectives:
        found.setdefault(family(name), []).append(name)
    return found


def check_collective(name: str) -> str:
    """The collective's name in its proper form."""
    proper = name.replace("-", "_")
    if proper not in _core.collectives():
        raise RequestError(_core.no_such("collective", name, _core.collectives()))
    return proper
