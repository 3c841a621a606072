# SPDX-License-Identifier: BSD-3-Clause
"""Allgather and allgatherv by Sparbit (Loch 2021)."""
