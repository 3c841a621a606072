# SPDX-License-Identifier: BSD-3-Clause
"""Axes of sizes, times and ratios."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator

from convene.base.text import bytes_text, seconds_text


def every_nth(count: int, most: int) -> range:
    """Places of at most so many labels, with a regular step."""
    return range(0, count, -(-count // most))


MOST_RANKS = 64  # with a label
MOST_SIZES = 5
DIGITS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
MARGIN = 1.6  # factor, beyond the least and the largest size


def set_ranks(axes: Axes, ranks: Sequence[int], most: int = MOST_RANKS) -> None:
    """Labels of a vertical axis on which rank number i of `ranks` stands at i: all, or every 2nd, 4th, …"""
    step = 1
    while -(-len(ranks) // step) > most:
        step *= 2
    places = range(0, len(ranks), step)
    axes.set_yticks(places, [str(ranks[place]) for place in places])
    axes.set_ylabel("rank")


def set_sizes(axes: Axes, sizes: Sequence[int], head: str) -> None:
    positive = [size for size in sizes if size > 0] or [1]
    if min(sizes) > 0:
        axes.set_xscale("log")
        axes.set_xlim(min(sizes) / MARGIN, max(sizes) * MARGIN)
    else:
        axes.set_xscale("symlog", linthresh=min(positive))
        axes.set_xlim(-0.3 * min(positive), max(positive) * MARGIN)
    shown = [sizes[place] for place in every_nth(len(sizes), MOST_SIZES)]
    axes.set_xticks(shown, [bytes_text(size) for size in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(head)


def label_sizes(axis: Axis) -> None:
    """Of an axis whose ends are not known yet."""
    axis.set_major_locator(FixedLocator([0, *(1 << power for power in range(0, 61, 4))]))
    axis.set_major_formatter(lambda value, _: bytes_text(value))
    axis.set_minor_locator(NullLocator())


def label_times(axis: Axis, most: float) -> None:
    """Of a logarithmic axis; where its ends differ by no more than `most` times, 2 and 5 have labels, too,
    and more digits where labels would be few."""
    low, high = axis.get_view_interval()
    ratio = high / max(low, 1e-12)
    subs = (1.0,) if ratio >= most else (1.0, 2.0, 5.0) if ratio >= 10 else DIGITS
    axis.set_major_locator(LogLocator(subs=subs) if ratio >= 2 else MaxNLocator(5))
    axis.set_major_formatter(lambda value, _: seconds_text(value))
    axis.set_minor_formatter(lambda *_: "")


def set_times(axes: Axes) -> None:
    axes.set_yscale("log")
    label_times(axes.yaxis, 300)


def label_percents(axis: Axis) -> None:
    """Of a logarithmic axis of parts of one."""
    label_parts(axis, lambda value: f"{100 * value:.3g} %")


def label_ratios(axis: Axis) -> None:
    label_parts(axis, lambda value: f"{value:g}")


def label_parts(axis: Axis, text: Callable[[float], str]) -> None:
    low, high = axis.get_view_interval()
    ratio = high / max(low, 1e-12)
    few = (1.0, 2.0, 3.0, 5.0) if isinstance(axis, XAxis) else DIGITS
    subs = (1.0,) if ratio >= 300 else (1.0, 2.0, 5.0) if ratio >= 10 else few
    axis.set_major_locator(LogLocator(subs=subs) if ratio >= 3 else MaxNLocator(5))
    axis.set_major_formatter(lambda value, _: text(value))
    axis.set_minor_formatter(lambda *_: "")
