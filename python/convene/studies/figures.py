# SPDX-License-Identifier: BSD-3-Clause
"""The studies' figures."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from convene.base.text import bytes_text, seconds_text
from convene.plots.axes import every_nth, set_sizes
from convene.plots.style import COLOURS, MARKERS, legend, legend_below, panels, style

Curves = Mapping[str, Sequence[tuple[float, float]]]
Cell = tuple[int, int, str, float]  # processes, size, the best algorithm, its gain over the second
DARKEST = 0.25  # grey of a gain of nothing; one of 100 % is white


Compared = Mapping[str, tuple[float, float | None]]  # by row: simulated, published


def compare(axes: Axes, rows: Compared, title: str, across: str) -> None:
    """Simulated values as bars, published ones beside."""
    height = 0.38
    for number, name in enumerate(("simulated", "published")):
        values = [(at, pair[number]) for at, pair in enumerate(rows.values())]
        known = [(at, value) for at, value in values if value is not None]
        axes.barh(
            [at + (number - 0.5) * height for at, _ in known],
            [value for _, value in known],
            height,
            label=name,
            color=("0.3", "0.75")[number],
        )
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.invert_yaxis()
    axes.set(title=title, xlabel=across)
    axes.legend(fontsize=8)


def hybrid_maps(maps: Sequence[tuple[str, Sequence[Cell]]], subject: str, shares: Compared) -> Figure:
    """A heat map each: the winner's colour or, for the subject of the study, its gain in grey. The last panel
    compares the subject's shares of the cells, in per cent, with the published ones."""
    others = sorted({cell[2] for _, cells in maps for cell in cells} - {subject})
    colours = dict(zip(others, COLOURS, strict=False))
    with style():
        drawing, axes = panels(len(maps) + 1, columns=3)
        for (title, cells), each in zip(maps, axes, strict=False):
            hybrid_map(each, title, cells, subject, colours)
        compare(axes[-1], shares, f"cells that {subject} wins", "%")
        handles = [Patch(color=colours[name], label=name) for name in others]
        handles += [
            Patch(facecolor=str(DARKEST), label=f"{subject}, gain 0"),
            Patch(facecolor="1", edgecolor="0.5", label=f"{subject}, gain 100 %"),
        ]
        drawing.legend(
            handles=handles, loc="lower center", ncols=min(6, len(handles)), bbox_to_anchor=(0.5, -0.06)
        )
    return drawing


def hybrid_map(axes: Axes, title: str, cells: Sequence[Cell], subject: str, colours: dict[str, str]) -> None:
    columns = sorted({cell[0] for cell in cells})
    rows = sorted({cell[1] for cell in cells})
    image = np.zeros((len(rows), len(columns), 3))
    for procs, size, name, gain in cells:
        grey = DARKEST + (1 - DARKEST) * gain
        image[rows.index(size), columns.index(procs)] = (
            (grey,) * 3 if name == subject else to_rgb(colours[name])
        )
    axes.imshow(image, aspect="auto", origin="lower", interpolation="nearest")
    axes.set_title(title)
    label_ticks(axes, "x", columns, str)
    label_ticks(axes, "y", rows, bytes_text)
    axes.set_xlabel("processes")
    axes.set_ylabel("bytes a block")
    axes.grid(visible=False)


def label_ticks(axes: Axes, which: str, values: Sequence[int], text: Any) -> None:
    places = list(every_nth(len(values), 6))
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks(places, [text(values[place]) for place in places])


def plot(axes: Axes, found: Curves) -> None:
    for i, (name, points) in enumerate(found.items()):
        axes.plot(*zip(*points, strict=True), label=name, color=COLOURS[i], marker=MARKERS[i], markersize=4)


def curves(found: Sequence[tuple[str, str, Curves]]) -> Figure:
    """Times on a logarithmic scale. Each panel: its title, what its x axis is, and the curves."""
    with style():
        drawing, axes = panels(len(found))
        for (title, across, lines), each in zip(found, axes, strict=True):
            plot(each, lines)
            each.set(title=title, xlabel=across, ylabel="time", yscale="log")
            if across == "bytes":
                set_sizes(each, [int(at) for at, _ in next(iter(lines.values()))], across)
            label_times(each)
            each.legend(fontsize=8)
    return drawing


def label_times(axes: Axes) -> None:
    """Within little more than a decade there are not enough powers of ten to read a time from."""
    axes.yaxis.set_major_formatter(lambda value, _: seconds_text(value))
    low, high = axes.get_ylim()
    is_short = high < 15 * low
    axes.yaxis.set_minor_formatter(
        lambda value, _: seconds_text(value) if is_short and f"{value:e}"[0] in "25" else ""
    )


def gains(found: Sequence[tuple[str, str, Curves]]) -> Figure:
    """Gains in per cent over imbalance, or over the error of the forecast. Losses of more than 100 % are on a
    logarithmic scale."""
    heads = {
        "imbalance": "latest arrival, in balanced run times of the best regular algorithm",
        "error": "standard deviation of the forecast, as a part of the latest arrival",
    }
    with style():
        width = 4.6
        drawing, axes = panels(len(found), width=width, columns=2)
        for (title, across, lines), each in zip(found, axes, strict=True):
            plot(each, lines)
            each.axhline(0, color="0.4", linewidth=1)
            each.set(title=title, ylabel="gain, %")
            each.set_xlabel(heads[across], fontsize=8)
            each.set_yscale("symlog", linthresh=100, linscale=2)
            lowest = min(gain for points in lines.values() for _, gain in points)
            each.set_ylim(min(-3000, 1.5 * lowest), 110)
            each.set_yticks([-1000, -100, -50, 0, 50, 100])
            each.yaxis.set_major_formatter("{x:g}")
            if across == "imbalance":
                each.set_xscale("log")
                each.set_xticks([at for at, _ in next(iter(lines.values()))])
                each.xaxis.set_major_formatter("{x:g}")
                each.xaxis.set_minor_formatter("")
            legend_below(each, width)
        drawing.subplots_adjust(hspace=0.75)
    return drawing


Values = Mapping[str, Sequence[float]]  # by algorithm


def clairvoyant(
    found: Sequence[tuple[str, Sequence[float], Values, Values]], times: Compared, title: str
) -> Figure:
    """Above, times relative to Clairvoyant's; below, normalised absorption. A column for each size; the
    last one has balanced times in ms, compared with the published ones."""
    with style():
        from matplotlib import pyplot as plt

        drawing, axes = plt.subplots(2, len(found) + 1, figsize=(3.1 * len(found) + 3.1, 6), squeeze=False)
        for column, (size, at, ratios, hidden) in enumerate(found):
            above, below = axes[:, column]
            plot(above, {name: list(zip(at, values, strict=True)) for name, values in ratios.items()})
            plot(below, {name: list(zip(at, values, strict=True)) for name, values in hidden.items()})
            above.set(title=size, yscale="log")
            above.yaxis.set_major_formatter("{x:g}")
            above.yaxis.set_minor_formatter("{x:g}")
            for panel in (above, below):
                panel.set_xlabel("imbalance / t(Clairvoyant)", fontsize=8)
        axes[0][0].set_ylabel("time / Clairvoyant's")
        axes[1][0].set_ylabel("normalised absorption, %")
        drawing.subplots_adjust(top=0.95, wspace=0.3, hspace=0.35)
        legend(drawing, list(axes[:, :-1].ravel()))
        compare(axes[0][-1], times, title, "ms")
        axes[1][-1].set_visible(False)
    return drawing


def mini_benchmark(
    rows: Sequence[tuple[int, int, int, str, dict[str, float]]],
    names: Sequence[str],
    regular: Sequence[str],
    published: Mapping[tuple[int, int, int], tuple[str, float]],
) -> Figure:
    """The winner's colour in each cell, a panel for each size; the number is its speedup over the best
    regular one. A square has the colour of the published winner."""
    colours = dict(zip(names, COLOURS, strict=False))
    sizes = sorted({row[1] for row in rows})
    with style():
        drawing, axes = panels(len(sizes))
        for size, each in zip(sizes, axes, strict=True):
            own = [row for row in rows if row[1] == size]
            procs, delays = sorted({row[0] for row in own}), sorted({row[2] for row in own})
            image = np.zeros((len(delays), len(procs), 3))
            for number, _, delay, winner, times in own:
                at = delays.index(delay), procs.index(number)
                image[at] = to_rgb(colours[winner])
                faster = min(times[name] for name in regular) / times[winner]
                if winner not in regular:
                    each.text(at[1], at[0] + 0.15, f"{faster:.2f}", ha="center", va="center", fontsize=5)
                if (number, size, delay) in published:
                    there = colours[published[number, size, delay][0]]
                    each.scatter(at[1], at[0] - 0.3, 9, there, marker="s", edgecolors="white", linewidths=0.5)
            each.imshow(image, aspect="auto", origin="lower", interpolation="nearest", alpha=0.75)
            each.set_title(f"{size}K floats")
            each.set(xlabel="processes", ylabel="largest delay, ms")
            each.set_xticks(range(len(procs)), list(map(str, procs)), fontsize=8)
            each.set_yticks(range(len(delays)), list(map(str, delays)))
            each.grid(visible=False)
        handles: list[Artist] = [Patch(color=colours[name], alpha=0.75, label=name) for name in names]
        square = Line2D(
            [], [], linestyle="", marker="s", markersize=4, color="0.4", label="published (P = 28 … 48)"
        )
        handles.append(square)
        drawing.legend(handles=handles, loc="lower right", bbox_to_anchor=(0.85, 0.15))
    return drawing
