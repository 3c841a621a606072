# SPDX-License-Identifier: BSD-3-Clause
"""Information: this machine, its MPIs, and what Convene would do here."""
