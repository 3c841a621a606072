# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks: measurements of collectives, their statistics and reports."""
