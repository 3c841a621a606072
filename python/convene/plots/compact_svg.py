# SPDX-License-Identifier: BSD-3-Clause
"""Compact SVG: text as text, coordinates to a hundredth of a point, no indentation."""

import io
import re
from pathlib import Path

from matplotlib.figure import Figure

from convene.plots.style import style

FAMILY = "'DejaVu Sans', sans-serif"
COORDINATE = re.compile(r'(?<=[ "(])-?\d+\.\d{3,}(?=[ ")\n])')
FAMILIES = re.compile(r"'DejaVu Sans', [^;\"]*sans-serif")
MARKER = re.compile(r'<path id="(\w+)" d="[^"]*" style="([^"]*)"')
USE = re.compile(r'(<use xlink:href="#(\w+)"[^>]*?) style="([^"]*)"')
GROUP = re.compile(r'<g id="[^"]*">')


def compact(svg: str) -> str:
    """The same picture in fewer bytes."""
    svg = GROUP.sub("<g>", FAMILIES.sub(FAMILY, svg))  # nothing refers to a group
    styles = dict(MARKER.findall(svg))
    svg = USE.sub(lambda use: use[1] if styles.get(use[2]) == use[3] else use[0], svg)
    svg = COORDINATE.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), svg)
    return "\n".join(line.strip() for line in svg.splitlines()) + "\n"


def save(drawing: Figure, path: Path) -> None:
    """Writes a figure; equal figures give equal files."""
    text = io.StringIO()
    with style():
        drawing.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    path.write_text(compact(text.getvalue()), encoding="utf-8")
