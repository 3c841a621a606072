# SPDX-License-Identifier: BSD-3-Clause
"""Call sites: the source line of an address, by debugging symbols."""

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from convene.trace.recordings import Site

UNKNOWN = "??"
PATIENCE = 60.0  # seconds


def names(sites: Iterable[Site]) -> dict[Site, str]:
    """A name that a person can read for each site: function and line, or as much of that as is known."""
    found: dict[Site, str] = {}
    by_object: dict[str, list[Site]] = defaultdict(list)
    for site in sites:
        by_object[site.object].append(site)
    for path, here in by_object.items():
        lines = look_up(path, [site.offset for site in here])
        found.update({site: line or plain(site) for site, line in zip(here, lines, strict=True)})
    return found


def plain(site: Site) -> str:
    if not site.collective:
        return "(further places)"
    if not site.object:
        return "(unknown)"
    name = Path(site.object).name
    return f"{site.symbol} in {name}" if site.symbol else f"{name}+{site.offset:#x}"


def look_up(path: str, offsets: list[int]) -> list[str]:
    """Function and line of each address; empty if unknown. The call stands before its return
    address."""
    nothing = [""] * len(offsets)
    tool = shutil.which("addr2line")
    if not tool or not path:
        return nothing
    text = "".join(f"{max(offset - 1, 0):#x}\n" for offset in offsets)
    try:
        if not Path(path).is_file():
            return nothing
        done = subprocess.run(
            [tool, "-f", "-C", "-e", path],
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return nothing
    lines = done.stdout.splitlines()
    if len(lines) != 2 * len(offsets):
        return nothing
    answers = zip(lines[::2], lines[1::2], offsets, strict=True)
    return [name_of(function, line, f"{Path(path).name}+{at:#x}") for function, line, at in answers]


def name_of(function: str, line: str, address: str) -> str:
    """main (app.c:12) of addr2line's two answers; main (app+0x12f0) if the line is unknown."""
    place, _, number = line.partition(" (discriminator")[0].rpartition(":")
    has_line = place not in ("", UNKNOWN) and number not in ("?", "0")
    where = f"{Path(place).name}:{number}" if has_line else address
    if function != UNKNOWN:
        return f"{function.partition('(')[0]} ({where})"
    return where if has_line else ""
