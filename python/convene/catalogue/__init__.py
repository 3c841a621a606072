# SPDX-License-Identifier: BSD-3-Clause
"""Collectives and algorithms, as the catalogue of convene._core describes them."""
