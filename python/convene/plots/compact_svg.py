# SPDX-License-Identifier: BSD-3-Clause
"""SVG as text: figures that shrink to narrow windows; and compact ones, with coordinates to a hundredth of a
point and no indentation."""

import io
import re
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from convene.base import console
from convene.plots.style import style

FAMILY = "'DejaVu Sans', sans-serif"
COORDINATE = re.compile(r'(?<=[ "(])-?\d+\.\d{3,}(?=[ ")\n])')
FAMILIES = re.compile(r"'DejaVu Sans', [^;\"]*sans-serif")
MARKER = re.compile(r'<path id="(\w+)" d="[^"]*" style="([^"]*)"')
USE = re.compile(r'(<use xlink:href="#(\w+)"[^>]*?) style="([^"]*)"')
WIDTH = re.compile(r'<svg(?=\b[^>]*? width="([\d.]+pt)")')
IDENTIFIER = re.compile(r'(?<=id=")[mp][0-9a-f]{10}(?=")')  # of markers and clips
GROUP = re.compile(r'<g id="[^"]*">')


def compact(svg: str) -> str:
    """The same picture in fewer bytes."""
    svg = GROUP.sub("<g>", FAMILIES.sub(FAMILY, svg))  # nothing refers to a group
    styles = dict(MARKER.findall(svg))
    svg = USE.sub(lambda use: use[1] if styles.get(use[2]) == use[3] else use[0], svg)
    svg = COORDINATE.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), svg)
    for number, name in enumerate(IDENTIFIER.findall(svg)):
        svg = svg.replace(name, f"{name[0]}{number}")
    return "\n".join(line.strip() for line in svg.splitlines()) + "\n"


def svg_text(drawing: Figure, pad: float = 0.1, **metadata: Any) -> str:
    """A figure that a browser shrinks to a narrower window; a page may ask for its natural width, --width.
    `pad` inches are around it. Equal figures give equal texts."""
    written = io.StringIO()
    unknown = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # names that are addresses in the network
    drawing.savefig(
        written, format="svg", bbox_inches="tight", pad_inches=pad, metadata={**unknown, **metadata}
    )
    text = written.getvalue()
    return WIDTH.sub(r'<svg style="--width:\1;max-width:100%;height:auto"', text, count=1)


def element(drawing: Figure, pad: float = 0.1, **metadata: Any) -> str:
    """The same without a head, for a page."""
    text = svg_text(drawing, pad, **metadata)
    return text[text.index("<svg") :]


def save(drawing: Figure, path: Path) -> None:
    """Writes a figure; equal figures give equal files."""
    with style():
        console.write_file(path, compact(svg_text(drawing)))
