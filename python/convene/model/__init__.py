# SPDX-License-Identifier: BSD-3-Clause
"""Cost models: fitted parameters, predictions, winners."""
