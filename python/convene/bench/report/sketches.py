# SPDX-License-Identifier: BSD-3-Clause
"""Sketches: figures that are drawn, but not yet in any format; and what they share."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.legend import Legend

from convene.bench.report.measured import Measured
from convene.bench.summary import Row
from convene.catalogue import collectives, selection
from convene.plots.compact_svg import element
from convene.plots.style import COLOURS, MARKERS, OWN_COLOUR, labelled

MOST_PANELS = 6
ENTRY_PAD, PANEL_PAD = 0.02, 0.1  # inches around


@dataclass(frozen=True)
class Sketch:
    """A figure that is drawn, but not yet in any format."""

    drawing: Drawing
    name: str
    title: str
    caption: str
    panels: Sequence[Axes] = ()  # which a page may place as its width allows


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    caption: str
    svg: str
    legend: list[str]  # its entries; empty if they are in the panels, or there are none
    panels: list[str]  # the whole, if a page cannot place them one by one
    pdf: bytes  # empty if not wanted


def render(sketch: Sketch, prefix: str, with_pdf: bool) -> Figure:
    pdf = io.BytesIO()
    drawing, title = sketch.drawing, sketch.title
    svg = element(drawing, Title=title)
    if with_pdf:
        drawing.savefig(pdf, format="pdf", bbox_inches="tight", metadata={"CreationDate": None})
    legend, panels = parts(drawing, sketch.panels) if sketch.panels else ([], [svg])
    plt.close(drawing)
    return Figure(prefix + sketch.name, title, sketch.caption, svg, legend, panels, pdf.getvalue())


def parts(drawing: Drawing, panels: Sequence[Axes]) -> tuple[list[str], list[str]]:
    """Each entry of the legend and each panel as a picture of its own."""
    whole = [*drawing.legends]
    for legend in whole:
        legend.set_visible(False)
    own = entries(drawing, panels) if whole else []
    shown: list[Artist] = [*own, *panels]

    def alone(chosen: Artist, pad: float) -> str:
        for artist in shown:
            artist.set_visible(artist is chosen)
        return element(drawing, pad)

    return [alone(entry, ENTRY_PAD) for entry in own], [alone(panel, PANEL_PAD) for panel in panels]


def entries(drawing: Drawing, panels: Sequence[Axes]) -> list[Legend]:
    """A legend for each label."""
    return [
        drawing.legend([handle], [label], loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)
        for label, handle in labelled(panels).items()
    ]


LINES = ("-", "--", ":", "-.")  # after the first eight, colours repeat


def look(measured: Measured, name: str) -> dict[str, Any]:
    """An algorithm's colour and marker: the same in all figures."""
    if name == selection.NATIVE:
        return {"color": OWN_COLOUR, "marker": "x"}
    place = [each for each in measured.algorithms if each != selection.NATIVE].index(name)
    style = LINES[place // len(COLOURS) % len(LINES)]
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": style,
    }


def size_head(measured: Measured) -> str:
    return "bytes" if measured.collective in collectives.OF_VECTORS else "bytes per block"


def draw_line(
    axes: Axes, measured: Measured, name: str, rows: list[Row], place: Callable[[Row], float]
) -> None:
    """Times, with their intervals if there are several observations."""
    places = [place(row) for row in rows]
    how = {"label": name, "markersize": 4, "linewidth": 1.3, **look(measured, name)}
    values = np.array([[row.seconds.value, row.seconds.low, row.seconds.high] for row in rows])
    below, above = np.maximum(values[:, 0] - values[:, 1], 0), np.maximum(values[:, 2] - values[:, 0], 0)
    if measured.is_repeated:
        axes.errorbar(places, values[:, 0], yerr=[below, above], capsize=2, **how)
    else:
        axes.plot(places, values[:, 0], **how)


def of(measured: Measured, **wanted: Any) -> dict[str, list[Row]]:
    """The rows of these cases, by algorithm."""
    found: dict[str, list[Row]] = {}
    for row in measured.rows:
        if all(getattr(row.case, key) == value for key, value in wanted.items()):
            found.setdefault(row.name, []).append(row)
    return found


def spread(values: Sequence[Any], number: int) -> list[Any]:
    """So many of them, from the first to the last."""
    if len(values) <= number:
        return list(values)
    return [values[round(i * (len(values) - 1) / (number - 1))] for i in range(number)]


def described(measured: Measured, pattern: str, distribution: str = "regular") -> str:
    parts = []
    if len(measured.different("arrivals")) > 1:
        parts.append(f"arrivals {pattern}")
    if len(measured.different("distribution")) > 1:
        parts.append(f"{distribution} blocks")
    return f" ({', '.join(parts)})" if parts else ""


def slug(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def in_lines(name: str, most: int = 18) -> list[str]:
    """A name in lines that end after a separator."""
    lines = [""]
    for piece in re.split(r"(?<=[_;,(])", name):
        if lines[-1] and len(lines[-1] + piece) > most:
            lines.append(piece)
        else:
            lines[-1] += piece
    return lines
