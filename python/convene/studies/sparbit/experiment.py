# SPDX-License-Identifier: BSD-3-Clause
"""The Sparbit work's experiment (Loch 2021, section 6): contenders, ranks, sizes, and published results."""

from dataclasses import dataclass

# Section 6.1.3: Sparbit with a message a block against the algorithms of Open MPI of that time.
SPARBIT = "sparbit"
BASELINES = ("ring", "neighbor_exchange", "recursive_doubling", "bruck")
BASELINES_OF_V = ("ring", "neighbor_exchange", "bruck")

# Two arithmetic progressions in steps of 8, from 5 and from 8; of allgatherv in steps of 16.
PROCS = {
    "yahoo": sorted([*range(5, 254, 8), *range(8, 257, 8)]),
    "cervino": sorted([*range(5, 318, 8), *range(8, 321, 8)]),
}
PROCS_OF_V = sorted([*range(9, 250, 16), *range(16, 257, 16)])

UNITED = "united"  # both mappings together
NEAR = 10  # percentage points within which a share counts as the published one


@dataclass(frozen=True)
class Shares:
    """Share of cases that Sparbit wins, mean gain there, highest gain; in percent. None: unknown."""

    best: float
    gain: float
    highest: float | None = None


# Tables 6 and 7, by platform and mapping.
ALLGATHER = {
    ("yahoo", "sequential"): Shares(46.43, 34.7, 84.16),
    ("yahoo", "cyclic"): Shares(19.12, 14.89, 31.07),
    ("yahoo", UNITED): Shares(44.49, 19.78, 65.37),
    ("cervino", "sequential"): Shares(39.64, 30.23, 77.78),
    ("cervino", "cyclic"): Shares(30.83, 9.6, 44.12),
    ("cervino", UNITED): Shares(38.04, 27.94, 73.9),
}

# Table 8, by distribution: mappings united, 4 machines of Cervino.
ALLGATHERV = {
    "broadcast": Shares(78.57, 56.82, 92.38),
    "spike": Shares(25.0, 21.61, 73.26),
    "half_full": Shares(18.9, 15.44, 51.71),
    "linear": Shares(14.58, 17.86, 45.07),
    "geometric": Shares(35.57, 28.37, 59.83),
}
# The text has only this for single mappings.
ALLGATHERV_SEQUENTIAL = {"spike": Shares(61.16, 57.75), "geometric": Shares(60.42, 27.74)}
