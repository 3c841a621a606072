# SPDX-License-Identifier: BSD-3-Clause
"""The mini-benchmark (Proficz 2021, section 4, Listing 4): contenders, ranks, sizes, delays.

Every rank computes, half of the time before and half after an edge at which it tells when it will arrive, and
takes part in an allgather. It is simulated (`simulated`), measured with forecasts (`measured`), and measured
with declared phases on emulated nodes (`phases`, ./dev bench mini_benchmark).
"""

FLOAT = 4  # bytes
PROCS = range(4, 49, 4)
KILOFLOATS = (128, 256, 512, 1024, 2048)  # of all ranks together
DELAYS_MS = (0, 1, 5, 10, 50, 100, 500)  # the largest ones

# The source's names of algorithms, and Convene's; LIST is Convene's own.
REGULAR = {"NEX": "neighbor_exchange", "RING": "ring", "LNBC": "gather_bcast"}
AWARE = {"BDR": "bdr", "BSLB": "bslb"}
OWN = {"LIST": "list_scheduled"}


def block_bytes(kilofloats: int, procs: int) -> int:
    """The more ranks there are, the smaller is a block."""
    return 1024 * kilofloats * FLOAT // procs
