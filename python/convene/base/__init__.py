# SPDX-License-Identifier: BSD-3-Clause
"""Paths, console output, parsing and text: what all other packages use."""
