# SPDX-License-Identifier: BSD-3-Clause
"""The experiment of Viertel 2007, chapter 7: algorithms and sizes of scatter, gather and allgather.

The source shows curves. The studies check what it says about them in words, sentence by sentence.
"""

LINEAR, TREE = "linear", "nway_binomial;fanout=1"
RING, DOUBLING, BRUCK, PORTS = "modified_ring", "recursive_doubling", "bruck", "bruck;ports=3"
ALLGATHERS = (RING, DOUBLING, BRUCK, PORTS)

SMALL, LARGE = 4, 32 << 10  # bytes a block
PROCS = tuple(range(2, 33, 2))
TIE = 1.05  # "similar"
