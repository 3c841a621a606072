# SPDX-License-Identifier: BSD-3-Clause
"""Verification: every schedule played symbolically, without MPI."""
