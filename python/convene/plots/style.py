# SPDX-License-Identifier: BSD-3-Clause
"""Plot style: colours, markers, panels and legends of all figures; and that Matplotlib writes SVG, without a
screen."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

# Okabe and Ito's colours, which are distinguishable with colour blindness; native is always black.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f")
MARKERS = "osD^vP*X"
OWN_COLOUR = "#000000"

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "convene",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "axes.axisbelow": True,
    "legend.frameon": False,
}


@contextmanager
def style() -> Iterator[None]:
    with mpl.rc_context(STYLE):
        yield


def panels(
    number: int, width: float = 4.2, height: float = 3.3, columns: int | None = None
) -> tuple[Drawing, list[Axes]]:
    columns = columns or (2 if number == 4 else min(number, 3))
    rows = -(-number // columns)
    drawing, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    found = list(axes.ravel())
    for spare in found[number:]:
        spare.set_visible(False)
    drawing.subplots_adjust(wspace=0.3, hspace=0.45)
    return drawing, found[:number]


def labelled(axes: Sequence[Axes]) -> dict[str, Artist]:
    """What has a label in some of the panels, once."""
    entries: dict[str, Artist] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries


def legend(drawing: Drawing, axes: Sequence[Axes]) -> None:
    """Above the panels, with as many columns as fit."""
    entries = labelled(axes)
    if entries:
        drawing.legend(
            entries.values(),
            entries.keys(),
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=legend_columns([*entries], max(drawing.get_figwidth(), LEAST_LEGEND)),
        )


def legend_below(axes: Axes, inches: float) -> None:
    """Below one panel and the text of its axis, where colours differ from panel to panel."""
    _, labels = axes.get_legend_handles_labels()
    columns = legend_columns(labels, inches)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.23), ncols=columns)


MOST_COLUMNS = 6  # of a legend
LEAST_LEGEND = 6.0  # inches, above a narrow figure
BESIDE_LABEL = 4.8  # a sample, and the gap to the next column, in sizes of the font


def legend_columns(labels: Sequence[str], inches: float) -> int:
    """The most columns of a legend that fit; a column is filled before the next one."""
    size = float(STYLE["font.size"])
    widths = [text_width(label, size) + BESIDE_LABEL * size for label in labels]
    for columns in range(min(len(labels), MOST_COLUMNS), 1, -1):
        rows, longer = divmod(len(labels), columns)
        ends = [rows + (column < longer) for column in range(columns)]
        starts = [sum(ends[:column]) for column in range(columns)]
        needed = sum(max(widths[at : at + count]) for at, count in zip(starts, ends, strict=True))
        if needed <= 72 * inches:
            return columns
    return 1


def text_width(text: str, points: float) -> float:
    """In points, in the widest of the common fonts."""
    font = FontProperties(family="DejaVu Sans", size=points)
    width, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return float(width)
