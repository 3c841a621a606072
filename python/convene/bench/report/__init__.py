# SPDX-License-Identifier: BSD-3-Clause
"""Reports of measurements: sentences, figures and tables on one page."""
