# SPDX-License-Identifier: BSD-3-Clause
"""Arrival statistics of calls: imbalance, run time, waiting."""

import numpy as np
from numpy.typing import NDArray

from convene import _core

Array = NDArray[np.float64]


def elapsed(arrivals: Array, exits: Array) -> Array:
    return exits - arrivals


def call_statistics(arrivals: Array, exits: Array) -> dict[str, Array]:
    """Of each observation: imbalance, mean_elapsed, run_time, last_arrival_to_last_exit."""
    found = _core.call_statistics(arrivals.tolist(), exits.tolist())
    return {name: np.array(numbers) for name, numbers in found.items()}


def waiting(arrivals: Array, exits: Array) -> Array:
    """Time of each rank inside before the last arrival: (observations, ranks)."""
    last = arrivals.max(axis=1, keepdims=True)
    inside: Array = np.minimum(exits, last) - arrivals
    return inside
