# SPDX-License-Identifier: BSD-3-Clause
"""Figure of the τ-Lop study: errors of three models beside the published ones, and the ring's mappings."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from convene.plots.axes import set_sizes
from convene.plots.style import COLOURS, MARKERS, style
from convene.studies.figures import label_times
from convene.studies.taulop.experiment import MODELS

Rows = Sequence[Mapping[str, Any]]


def draw(compared: Rows, ratios: Rows) -> Figure:
    with style():
        from matplotlib import pyplot as plt

        drawing, axes = plt.subplots(1, 3, figsize=(15, 5.2), width_ratios=(1.7, 1, 1))
        draw_errors(axes[0], compared)
        for each, where, title in (
            (axes[1], "figure 5.9", "ring, P = 32, sequential"),
            (
                axes[2],
                "figure 6.4",
                f"ring, P = 32, round robin:\n{ratios[0]['simulated']:.1f} times as slow; published 6",
            ),
        ):
            draw_times(each, next(row for row in compared if row["where"] == where), title)
        drawing.subplots_adjust(left=0.22, wspace=0.3)
    return drawing


def draw_errors(axes: Axes, compared: Rows) -> None:
    for i, (model, name) in enumerate(MODELS.items()):
        for kind, label in (("errors", name), ("published", f"{name}, published")):
            points = [(row[kind][model], at) for at, row in enumerate(compared) if row[kind][model]]
            face = COLOURS[i] if kind == "errors" else "none"
            axes.scatter(
                *zip(*points, strict=True),
                marker=MARKERS[i],
                edgecolors=COLOURS[i],
                facecolors=face,
                label=label,
            )
    axes.axvline(1, color="0.4", linewidth=1)
    axes.set(title="mean proportional error", xscale="log", xlabel="max(r, e) / min(r, e)")
    axes.set_xticks([1, 1.5, 2, 3, 5, 10])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    names = [
        f"{row['collective']} {row['algorithm']}{'*' if row['calibrates'] else ''}, "
        f"{row['platform']} {row['procs']}" + (" rr" if row["mapping"] != "sequential" else "")
        for row in compared
    ]
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    axes.legend(fontsize=8)


def draw_times(axes: Axes, row: Mapping[str, Any], title: str) -> None:
    axes.plot(row["sizes"], row["simulated"], label="simulated", color="black", linewidth=2)
    for i, (model, name) in enumerate(MODELS.items()):
        if row["predicted"][model]:
            axes.plot(row["sizes"], row["predicted"][model], label=name, color=COLOURS[i], marker=MARKERS[i])
    axes.set(title=title, xlabel="bytes", ylabel="time", yscale="log")
    set_sizes(axes, row["sizes"], "bytes")
    label_times(axes)
    axes.legend(fontsize=8)
