# SPDX-License-Identifier: BSD-3-Clause
"""Scatter, gather and allgather on CHiC (Viertel 2007, chapter 7)."""
