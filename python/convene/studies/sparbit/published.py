# SPDX-License-Identifier: BSD-3-Clause
"""Published results of the Sparbit work: Loch 2021, tables 6, 7 and 8, average time."""

from dataclasses import dataclass

UNITED = "united"  # both mappings together


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
# Of single mappings the text says only this.
ALLGATHERV_SEQUENTIAL = {"spike": Shares(61.16, 57.75), "geometric": Shares(60.42, 27.74)}
