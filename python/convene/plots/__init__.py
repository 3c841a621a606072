# SPDX-License-Identifier: BSD-3-Clause
"""Matplotlib style and axes that all figures share."""
