# SPDX-License-Identifier: BSD-3-Clause
"""Clairvoyant: reductions with late ranks (Marendic et al. 2016)."""
