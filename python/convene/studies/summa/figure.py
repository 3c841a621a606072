# SPDX-License-Identifier: BSD-3-Clause
"""SUMMA's figure: predicted, simulated and measured or published seconds side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from convene.base.text import seconds_text
from convene.plots.style import COLOURS, legend_below, panels, style


def bars(rows: Sequence[tuple[str, Mapping[str, Any]]], names: Sequence[str]) -> Figure:
    """A group of bars for each row, on a logarithmic scale."""
    with style():
        width = 1.6 * len(rows)
        drawing, (axes,) = panels(1, width=width)
        share = 0.8 / len(names)
        for number, name in enumerate(names):
            at = [place + (number - (len(names) - 1) / 2) * share for place in range(len(rows))]
            axes.bar(at, [row[name] for _, row in rows], share, label=name, color=COLOURS[number])
        axes.set_xticks(range(len(rows)), [label for label, _ in rows], fontsize=8)
        axes.set(yscale="log", ylabel="communication")
        axes.yaxis.set_major_formatter(lambda value, _: seconds_text(value))
        legend_below(axes, width)
    return drawing
