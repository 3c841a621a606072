# SPDX-License-Identifier: BSD-3-Clause
"""Clairvoyant's experiment (Marendic et al. 2016, sections 6.3 and 7): contenders, sizes, results."""

PROCS = 128
KIB, MIB = 1 << 10, 1 << 20
SIZES = (128 * KIB, 512 * KIB, 2 * MIB, 4 * MIB, 40 * MIB)

CLAIRVOYANT = "clairvoyant"
BASELINES = ("binomial", "butterfly", "ring", "radix_k")

# Table 8: the best number of segments, as measured there.
SEGMENTS = dict(zip(SIZES, (16, 8, 16, 16, 40), strict=True))

# Table 4, in ms.
AT_4_MIB = {
    "binomial": 34.0,
    "butterfly": 8.9,
    "ring": 8.3,
    "pipeline": 6.1,
    "radix_k": 8.5,
    "local_redirect": 41.0,
}

# The most absorption in percent of the balanced run time, by size; of the others there are only figures.
ABSORPTION = {40 * MIB: 51.0}
ABSORPTION_BY_MODEL = 14.9  # at 40 MiB, by the source's linear model
