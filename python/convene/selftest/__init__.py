# SPDX-License-Identifier: BSD-3-Clause
"""Acceptance of an installation: the parts of convene selftest."""
