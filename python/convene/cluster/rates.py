# SPDX-License-Identifier: BSD-3-Clause
"""Link rates."""

import contextlib

from convene._core import RequestError

RATE_UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def parse_rate(text: str) -> float:
    """Bits per second, from "200mbit", "1Gbit/s"."""
    plain = text.strip().lower().removesuffix("/s")
    for unit, factor in RATE_UNITS.items():
        if plain.endswith(unit):
            with contextlib.suppress(ValueError):
                rate = float(plain.removesuffix(unit)) * factor
                if 1e4 <= rate <= 1e12:
                    return rate
    raise RequestError(f"invalid --rate '{text}'; give 10kbit to 1000gbit, such as 200mbit or 1gbit")
