# SPDX-License-Identifier: BSD-3-Clause
"""The mini-benchmark: allgather under imbalanced arrivals (Proficz 2021)."""
