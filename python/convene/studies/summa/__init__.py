# SPDX-License-Identifier: BSD-3-Clause
"""SUMMA: a matrix multiplication with irregular partitions (Rico-Gallego 2015, appendix A)."""
