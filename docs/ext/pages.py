# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of generated pages: tables, pictures, files that are rewritten only if their content "
"changes."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from convene import _core


def write(path: Path, text: str) -> None:
    """Writes the file unless it already has this text: Sphinx re-reads changed files only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def remove_others(directory: Path, suffix: str, keep: Iterable[str]) -> None:
    """Removes files of earlier builds with this suffix, except those of these names."""
    kept = {f"{name}{suffix}" for name in keep}
    for path in directory.glob(f"*{suffix}"):
        if path.name not in kept:
            path.unlink()


def cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: bool = False) -> str:
    """A table; `numbers` aligns all columns but the first to the right."""
    align = ["---", *(["--:"] * (len(heads) - 1))] if numbers else ["---"] * len(heads)
    lines = [heads, align, *rows]
    return "\n".join("| " + " | ".join(cell(item) for item in line) + " |" for line in lines) + "\n"


def picture(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    rings: bool = False,
    machine: str = "",
    placement: str = "",
) -> str:
    request = _core.ScheduleRequest(
        collective=collective, spec=spec, procs=procs, root=root, machine=machine, placement=placement
    )
    return _core.svg(request, rings=rings)


def image(path: str, svg: str, alternative: str) -> str:
    """A picture in its size, or smaller on a narrow page; it links to itself."""
    width = re.search(r'<svg [^>]*\bwidth="([\d.]+)"', svg)
    return f"```{{image}} {path}\n:alt: {alternative}\n:width: {width[1] if width else 700}px\n```\n"
