# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of programs: arrivals, lateness, timelines."""
