# SPDX-License-Identifier: BSD-3-Clause
"""Clock corrections: straight lines from one clock to another, and their composition."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Clock = int


@dataclass(frozen=True)
class Line:
    """Takes times of one clock to another: other = own - offset - drift (own - at), in nanoseconds."""

    at: float = 0.0
    offset: float = 0.0
    drift: float = 0.0
    error: float = 0.0

    def apply(self, own: Array) -> Array:
        return own - self.offset - self.drift * (own - self.at)

    def inverse(self) -> "Line":
        # own - at = (other + offset - at) / (1 - drift), as the same form with `other` for `own`.
        there = self.at - self.offset
        drift = 1 - 1 / (1 - self.drift)
        return Line(there, -self.offset, drift, self.error)


def ways(edges: Iterable[tuple[Clock, Clock, Line]], base: Clock) -> dict[Clock, list[Line]]:
    """From each clock to `base`: the lines to apply one after the other, over as few as possible."""
    edges = list(edges)
    edges += [(there, here, line.inverse()) for here, there, line in edges]
    edges.sort(key=lambda edge: edge[2].error)
    found: dict[Clock, list[Line]] = {base: []}
    ring = [base]
    while ring:
        following = []
        for there in ring:
            for here, other, line in edges:
                if other == there and here not in found:
                    found[here] = [line, *found[there]]
                    following.append(here)
        ring = following
    return found
