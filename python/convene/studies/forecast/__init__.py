# SPDX-License-Identifier: BSD-3-Clause
"""What forecasts of arrivals gain on 4,096 nodes."""
