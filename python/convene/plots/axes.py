# SPDX-License-Identifier: BSD-3-Clause
"""Axes of sizes, times and ratios."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, MaxNLocator

from convene import _core
from convene.base.text import seconds_text


def size_label(size: float) -> str:
    return _core.format_size(round(size))


def size_title(size: int) -> str:
    text = size_label(size)
    return text if text.endswith("B") else f"{text} B"


def set_sizes(axes: Axes, sizes: Sequence[int], head: str) -> None:
    axes.set_xscale("log" if min(sizes) > 0 else "symlog")
    shown = sizes[:: max(1, -(-len(sizes) // 4))]
    axes.set_xticks(shown, [size_label(size) for size in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(head)


def label_times(axis: Axis, most: float) -> None:
    """Of a logarithmic axis; where its ends differ by no more than `most` times, 2 and 5 have labels, too."""
    low, high = axis.get_view_interval()
    subs = (1.0, 2.0, 5.0) if high < most * max(low, 1e-12) else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(lambda value, _: seconds_text(value))
    axis.set_minor_formatter(lambda *_: "")


def set_times(axes: Axes) -> None:
    axes.set_yscale("log")
    label_times(axes.yaxis, 300)


def label_ratios(axis: Axis) -> None:
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if high > 4 * low else MaxNLocator(6))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(lambda *_: "")
