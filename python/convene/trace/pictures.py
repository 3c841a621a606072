# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a recording, drawn by Matplotlib as SVG: the timeline, and lateness over time."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from convene.plots.axes import set_ranks
from convene.plots.compact_svg import element
from convene.plots.style import COLOURS, STYLE, legend_columns
from convene.trace.lateness import Calls, Summary

MOST_CALLS = 2000  # of a timeline: more are not distinguishable
MOST_BINS = 120  # of time, in the picture of who was late
WIDTH = 8  # inches
WAITING = "#d9d9d9"
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
Shown = list[tuple[Calls, int]]


def svg_of(drawing: Figure) -> str:
    text = element(drawing)
    plt.close(drawing)
    return text


def unit_of(seconds: float) -> tuple[float, str]:
    return next(((scale, name) for scale, name in UNITS if seconds >= scale), UNITS[-1])


def timeline(summary: Summary) -> str:
    """Ranks over time: each call in its collective's colour, waiting for the last rank in grey."""
    calls: Shown = [(calls, i) for calls in summary.kinds for i in range(len(calls))]
    calls.sort(key=lambda each: float(each[0].arrivals[each[1]].min()))
    shown = calls[-MOST_CALLS:]
    ranks = sorted({rank for each, _ in shown for rank in each.kind.members})
    rows = {rank: row for row, rank in enumerate(ranks)}
    names = sorted({each.kind.collective for each, _ in shown})
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    start = min(float(each.arrivals[i].min()) for each, i in shown)
    end = max(float(np.nanmax(np.fmax(each.exits[i], each.arrivals[i]))) for each, i in shown)
    scale, unit = unit_of(end - start)
    with plt.rc_context(STYLE):
        drawing, axes = plt.subplots(figsize=(WIDTH, 1.2 + 0.32 * len(ranks)))
        for rank, row in rows.items():
            for name in names:
                for waits, colour in ((False, colours[name]), (True, WAITING)):
                    bars = spans(shown, rank, name, waits, end)
                    placed = [((begin - start) / scale, width / scale) for begin, width in bars]
                    axes.broken_barh(placed, (row - 0.4, 0.8), color=colour, linewidth=0)
        axes.set_xlim(0, (end - start) / scale)
        axes.set_ylim(len(ranks) - 0.4, -0.6)
        set_ranks(axes, ranks)
        axes.set_xlabel(f"time ({unit})")
        keys = [Patch(color=colours[name], label=name) for name in names]
        keys.append(Patch(color=WAITING, label="waiting for the last rank"))
        columns = legend_columns([str(key.get_label()) for key in keys], WIDTH * 0.775)
        axes.legend(handles=keys, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns)
        return svg_of(drawing)


def spans(shown: Shown, rank: int, collective: str, waits: bool, end: float) -> list[tuple[float, float]]:
    """When a rank was inside calls of a collective, or waited there: begin and length in seconds. One that
    never left is inside to the end."""
    found = []
    for calls, i in shown:
        if calls.kind.collective != collective or rank not in calls.kind.members:
            continue
        member = calls.kind.members.index(rank)
        arrival, left = float(calls.arrivals[i, member]), float(calls.exits[i, member])
        length = float(calls.waiting[i, member]) if waits else (end if np.isnan(left) else left) - arrival
        found.append((arrival, length))
    return found


def lateness_map(summary: Summary) -> str:
    """Ranks over time, darker where a rank arrived later than the first, in the mean of that time's calls."""
    recording = summary.recording
    ranks = [row.rank for row in summary.ranks]
    length = max(recording.end - recording.start, 1e-9)
    bins = int(min(MOST_BINS, max(recording.calls, 1)))
    sums, counts = np.zeros((len(ranks), bins)), np.zeros((len(ranks), bins))
    rows = {rank: row for row, rank in enumerate(ranks)}
    for calls in summary.kinds:
        when = ((calls.arrivals.min(axis=1) - recording.start) / length * bins).astype(int).clip(0, bins - 1)
        for member, rank in enumerate(calls.kind.members):
            np.add.at(sums[rows[rank]], when, calls.lateness[:, member])
            np.add.at(counts[rows[rank]], when, 1)
    mean = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    late_scale, late_unit = unit_of(float(np.nanmax(mean)))
    scale, unit = unit_of(length)
    with plt.rc_context({**STYLE, "axes.grid": False}):
        drawing, axes = plt.subplots(figsize=(WIDTH, 1.2 + 0.28 * len(ranks)))
        image = axes.imshow(
            mean / late_scale,
            aspect="auto",
            interpolation="nearest",
            cmap="Oranges",
            vmin=0,
            extent=(0, length / scale, len(ranks) - 0.5, -0.5),
        )
        axes.set_facecolor("#f2f4f6")
        set_ranks(axes, ranks)
        axes.set_xlabel(f"time ({unit})")
        drawing.colorbar(image, ax=axes, label=f"after the first ({late_unit})")
        return svg_of(drawing)
