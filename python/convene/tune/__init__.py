# SPDX-License-Identifier: BSD-3-Clause
"""Tuning: measured choices, and the wisdom files that keep them."""
