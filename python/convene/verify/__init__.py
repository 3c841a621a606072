# SPDX-License-Identifier: BSD-3-Clause
"""Verification: symbolic checks of every schedule, without MPI."""
