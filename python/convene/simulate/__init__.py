# SPDX-License-Identifier: BSD-3-Clause
"""Simulation of collectives and programs on modelled platforms."""
