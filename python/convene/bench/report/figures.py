# SPDX-License-Identifier: BSD-3-Clause
"""All figures of a measurement's report."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from matplotlib import pyplot as plt

from convene.bench.report import sample_figures, sketches, time_figures, winner_figures
from convene.bench.report.comparison import SAME, UNCLEAR, Compared
from convene.bench.report.measured import Measured
from convene.bench.report.sketches import Figure, Sketch
from convene.plots import style
from convene.plots.axes import label_ratios
from convene.plots.style import COLOURS, OWN_COLOUR

ALL = (
    winner_figures.winners,
    time_figures.over_sizes,
    time_figures.over_ranks,
    time_figures.over_imbalance,
    time_figures.gains,
    time_figures.absorption,
    sample_figures.executions,
    sample_figures.variation,
    sample_figures.worst_sample,
)


def all_figures(
    measured: Measured,
    prefix: str,
    with_pdf: bool,
    others: Sequence[Callable[[Measured], Iterator[Sketch]]] = (),
) -> list[Figure]:
    with style.style():
        return [
            sketches.render(sketch, prefix, with_pdf) for draw in (*ALL, *others) for sketch in draw(measured)
        ]


def comparison(compared: list[Compared], first: str, second: str, with_pdf: bool) -> Figure:
    """All ratios with their intervals, in order."""
    with style.style():
        is_exact = compared[0].is_exact
        interval = "" if is_exact else ", with its 95 % interval"
        ordered = sorted(compared, key=lambda each: each.ratio)
        drawing, axes = plt.subplots(figsize=(5.5, 3.6))
        colours = {"faster": COLOURS[2], "slower": COLOURS[1], UNCLEAR: "#8a929c", SAME: "#8a929c"}
        for verdict, colour in colours.items():
            own = [(place, each) for place, each in enumerate(ordered) if each.verdict == verdict]
            if not own:
                continue
            values = np.array([[each.ratio, each.low, each.high] for _, each in own])
            low, high = [
                np.maximum(values[:, 0] - values[:, 1], 0),
                np.maximum(values[:, 2] - values[:, 0], 0),
            ]
            axes.errorbar(
                [place for place, _ in own],
                values[:, 0],
                yerr=None if own[0][1].is_exact else [low, high],
                fmt="o",
                markersize=3,
                color=colour,
                label=f"{second} is {verdict}" if verdict in ("faster", "slower") else verdict,
            )
        axes.axhline(1, color=OWN_COLOUR, linewidth=1)
        axes.annotate(
            "equal",
            (1, 1),
            xytext=(3, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
        )
        axes.set_yscale("log")
        label_ratios(axes.yaxis)
        axes.set_ylabel("ratio of times" if is_exact else "ratio of medians")
        axes.set_xlabel("cases and algorithms, in order of the ratio")
        style.legend(drawing, [axes])
        sketch = Sketch(
            drawing,
            "comparison",
            f"{second} by {first}",
            f"One point for each case and algorithm that both have{interval}; below 1 the second is faster.",
            [axes],
        )
        return sketches.render(sketch, "", with_pdf)
