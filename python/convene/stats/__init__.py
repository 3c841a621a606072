# SPDX-License-Identifier: BSD-3-Clause
"""Statistics: intervals, tests, and arrival statistics."""
