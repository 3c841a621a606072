# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the page on environment variables names exactly those that the code reads."""

import re
from pathlib import Path

READ = re.compile(r'"(CONVENE_[A-Z_]+)"')
NAMED = re.compile(r"`(CONVENE_[A-Z_]+)`")


def check(sources: Path, page: Path) -> None:
    read: set[str] = set()
    for path in (sources / "runtime").rglob("*.cpp"):
        read |= set(READ.findall(path.read_text(encoding="utf-8")))
    named = set(NAMED.findall(page.read_text(encoding="utf-8")))
    if read - named:
        raise ValueError(f"{page.name} does not say what these do: {', '.join(sorted(read - named))}")
    if named - read:
        raise ValueError(f"{page.name} names what nothing reads: {', '.join(sorted(named - read))}")
