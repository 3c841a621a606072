# SPDX-License-Identifier: BSD-3-Clause
"""Emulated clusters: several nodes on one Linux machine."""
