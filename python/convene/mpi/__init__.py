# SPDX-License-Identifier: BSD-3-Clause
"""MPI stacks, launchers and processes."""
