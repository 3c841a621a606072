# SPDX-License-Identifier: BSD-3-Clause
"""Advice for a program: recorded call sites, measured alternatives, rules, and their proof."""
