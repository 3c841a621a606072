# SPDX-License-Identifier: BSD-3-Clause
"""Quantities as text."""

from convene import _core


def bytes_text(value: float) -> str:
    """A size for people, by the rule of format_size (src/base/sizes.hpp): 8 B, 3.91 KiB, 4 KiB, 15.6 KiB."""
    if value < 1024:
        return f"{value:.1f}".removesuffix(".0") + " B"  # of a mean
    return _core.size_text(round(value))


def seconds_text(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1:
            return f"{value * scale:.3g} {unit}" if value * scale < 1000 else f"{value * scale:.0f} {unit}"
    return f"{value * 1e9:.0f} ns"


def duration_text(seconds: float) -> str:
    """For people who wait."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
