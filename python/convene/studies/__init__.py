# SPDX-License-Identifier: BSD-3-Clause
"""Studies: experiments of the sources, simulated and measured, beside what they published."""
