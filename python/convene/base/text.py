# SPDX-License-Identifier: BSD-3-Clause
"""Quantities as text."""


def bytes_text(value: float) -> str:
    """Bytes as options take them: 4000, 4KiB; a mean has one decimal: 15.6KiB."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= scale and (value % scale == 0 or value >= 10 * scale):
            return f"{value / scale:.0f}{unit}" if value % scale == 0 else f"{value / scale:.1f}{unit}"
    return f"{value:.0f}"


def seconds_text(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1:
            return f"{value * scale:.3g} {unit}" if value * scale < 1000 else f"{value * scale:.0f} {unit}"
    return f"{value * 1e9:.0f} ns"


def duration_text(seconds: float) -> str:
    """For people who wait."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
