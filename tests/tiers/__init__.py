# SPDX-License-Identifier: BSD-3-Clause
"""The tiers of tests, and the parts that each consists of. `./dev test` runs `python -m tests.tiers`."""
