# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, sizes, times and lists from the command line."""

from convene import _core
from convene._core import RequestError

MOST_PROCS = 1 << 20
MOST_SEED = 2**64 - 1
MOST_ROUNDS = (1 << 31) - 1
MOST_SIZE = (1 << 31) - 1  # bytes
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def parse_number(text: str, what: str, least: int, most: int) -> int:
    """One number, such as the value of an option."""
    number = number_in(text, least, most)
    if number is None:
        raise RequestError(f"{what} must be a whole number from {least} to {most}, not '{text}'")
    return number


def number_in(text: str, least: int, most: int) -> int | None:
    """The whole number that is written there, if it is one within these limits."""
    plain = text.strip()
    number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 20 else -1
    return number if least <= number <= most else None


def parse_numbers(text: str, what: str, least: int, most: int) -> list[int]:
    """Numbers from "8", "1-64" or "2,4,8-16", each once, in order."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-") if "-" in part else (part, "", part)
        ends = number_in(first, least, most), number_in(last, least, most)
        if ends[0] is None or ends[1] is None:
            raise RequestError(
                f"{what} must be whole numbers from {least} to {most}, or ranges of them, as in "
                f"{least + 1},{least + 3}-{least + 7}, not '{part or text}'"
            )
        if ends[0] > ends[1]:
            raise RequestError(
                f"the range {what} '{part}' is empty; give the smaller number first, as in 1-64"
            )
        numbers.update(range(ends[0], ends[1] + 1))
    return sorted(numbers)


def parse_arrivals(text: str, procs: int) -> list[int]:
    """A forecast: the arrival of each rank, in rounds after the earliest."""
    arrivals = [parse_number(part, "an arrival in --arrivals", 0, MOST_ROUNDS) for part in text.split(",")]
    if len(arrivals) != procs:
        raise RequestError(
            f"--arrivals needs one number for each of the {procs} processes, as in "
            f"{','.join(['2', *['0'] * min(procs - 1, 3)])}; '{text}' has {len(arrivals)}"
        )
    return arrivals


def split_names(text: str) -> list[str]:
    """Names between commas, but for commas within parentheses; each once."""
    names, depth, name = [], 0, ""
    for letter in text + ",":
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            names.append(name.strip())
            name = ""
        else:
            name += letter
    return list(dict.fromkeys(name for name in names if name))


def parse_sizes(text: str, option: str = "--sizes") -> list[int]:
    """Bytes per block from "8,64,4KiB", or from "8:1MiB": doublings; "8:1MiB:4" goes in steps of 4."""
    sizes: dict[int, None] = {}
    for part in text.split(","):
        ends = part.split(":")
        if len(ends) > 3:
            raise RequestError(
                f"invalid range '{part}' in {option}; give FIRST:LAST or FIRST:LAST:FACTOR, as in 8:1MiB:4"
            )
        first, last = _core.size(ends[0]), _core.size(ends[min(1, len(ends) - 1)])
        factor = parse_factor(ends[2], option) if len(ends) == 3 else 2
        if first > last:
            raise RequestError(
                f"the range {option} '{part}' is empty; give the smaller size first, as in 8:1MiB"
            )
        if first == 0 < last:
            raise RequestError(f"the range {option} '{part}' cannot begin at 0; list it, as in 0,1:64")
        if last > MOST_SIZE:
            raise RequestError(f"{option} '{part}' is too large; give less than 2 GiB")
        while first <= last:
            sizes[first] = None
            first = first * factor if first else last + 1
    return list(sizes)


def parse_factor(text: str, option: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 2:
        raise RequestError(f"the factor '{text}' of {option} must be a whole number above 1, as in 8:1MiB:4")
    return int(text)


def parse_budget(text: str, what: str = "--budget") -> float:
    """Seconds from 10min, 90s or 1h."""
    number, factor = text, 1.0
    for unit, seconds in (("min", 60.0), ("h", 3600.0)):
        if text.endswith(unit):
            number, factor = text.removesuffix(unit), seconds
    try:
        return factor * parse_seconds(number, what)
    except RequestError:
        raise RequestError(
            f"invalid time '{text}' for {what}; give a number of seconds or a unit, as in 90s, 10min or 1h"
        ) from None


def parse_seconds(text: str, what: str) -> float:
    """Seconds from "0.5", "5ms" or "20us"."""
    number, factor = text.strip(), 1.0
    for unit in sorted(UNITS, key=len, reverse=True):
        if number.endswith(unit):
            number, factor = number.removesuffix(unit).strip(), UNITS[unit]
            break
    try:
        seconds = float(number) * factor
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise RequestError(
            f"invalid time '{text}' for {what}; give a number of seconds or a unit, as in 0.5, 5ms or 20us"
        )
    return seconds
