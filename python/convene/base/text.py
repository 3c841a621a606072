# SPDX-License-Identifier: BSD-3-Clause
"""Quantities as text."""

EXACT_BELOW = 10 * 1024  # of a unit


def bytes_text(value: float) -> str:
    """Bytes for people: 8 B, 4000 B, 4 KiB; 15.6 KiB where the exact number would be long."""
    units = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1))
    for unit, scale in units:
        if value % scale == 0 and scale <= value < EXACT_BELOW * scale:
            return f"{value / scale:.0f} {unit}"
    for unit, scale in units[:-1]:
        if value >= max(scale, EXACT_BELOW):
            return f"{value / scale:.1f} {unit}"
    return f"{value:.1f}".removesuffix(".0") + " B"


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
