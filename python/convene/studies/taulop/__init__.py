# SPDX-License-Identifier: BSD-3-Clause
"""τ-Lop on Metropolis and Lusitania (Rico-Gallego 2015, chapters 4 to 6, appendix A)."""
