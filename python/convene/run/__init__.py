# SPDX-License-Identifier: BSD-3-Clause
"""Runs of unmodified programs: environment, profiles, reports."""
