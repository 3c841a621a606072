# SPDX-License-Identifier: BSD-3-Clause
"""Quantities as text."""


def bytes_text(value: float) -> str:
    return (
        f"{value:.0f}"
        if value < 10_000
        else f"{value / 1024:.1f} Ki"
        if value < 1 << 20
        else f"{value / (1 << 20):.1f} Mi"
    )


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
