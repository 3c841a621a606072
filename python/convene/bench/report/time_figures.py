# SPDX-License-Identifier: BSD-3-Clause
"""Figures of times: over sizes, ranks and imbalance, against native, absorption."""

from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt

from convene.base.text import bytes_text
from convene.bench import metrics, requests
from convene.bench.report import sketches
from convene.bench.report.measured import Measured
from convene.bench.report.sketches import MOST_PANELS, Sketch
from convene.bench.summary import Case
from convene.catalogue import collectives, selection
from convene.plots import style
from convene.plots.axes import label_ratios, label_times, set_sizes, set_times
from convene.stats import arrivals

# Of box plots; Matplotlib before 3.10 has the other name alone.
IS_NEW = matplotlib.__version_info__ >= (3, 10)
HORIZONTAL: dict[str, Any] = {"orientation": "horizontal"} if IS_NEW else {"vert": False}


def over_sizes(measured: Measured) -> Iterator[Sketch]:
    sizes = measured.different("size")
    if len(sizes) < 2:
        return
    for pattern in measured.different("arrivals"):
        for distribution in measured.different("distribution"):
            procs = sketches.spread(measured.different("procs"), MOST_PANELS)
            drawing, axes = style.panels(len(procs))
            for number, each in zip(procs, axes, strict=True):
                chosen = sketches.of(measured, procs=number, arrivals=pattern, distribution=distribution)
                for name, rows in chosen.items():
                    sketches.draw_line(each, measured, name, rows, lambda row: row.size)
                each.set_title(f"{number} ranks")
                set_sizes(each, sizes, sketches.size_head(measured))
                set_times(each)
            style.legend(drawing, axes)
            yield Sketch(
                drawing,
                f"sizes-{sketches.slug(pattern)}-{distribution}",
                f"Time against size{sketches.described(measured, pattern, distribution)}",
                f"{measured.caption_of_times} {measured.sentence_of_metric}",
                axes,
            )


def over_ranks(measured: Measured) -> Iterator[Sketch]:
    procs = measured.different("procs")
    if len(procs) < 2:
        return
    for pattern in measured.different("arrivals"):
        sizes = sketches.spread(measured.different("size"), 3)
        drawing, axes = style.panels(len(sizes))
        for size, each in zip(sizes, axes, strict=True):
            for name, rows in sketches.of(
                measured, size=size, arrivals=pattern, distribution="regular"
            ).items():
                sketches.draw_line(each, measured, name, rows, lambda row: row.case.procs)
            each.set_title("" if measured.collective in collectives.WITHOUT_SIZES else bytes_text(size))
            each.set_xticks(procs, [str(number) for number in procs])
            each.set_xlabel("ranks")
            set_times(each)
        style.legend(drawing, axes)
        yield Sketch(
            drawing,
            f"ranks-{sketches.slug(pattern)}",
            f"Time against the number of ranks{sketches.described(measured, pattern)}",
            measured.caption_of_times,
            axes,
        )


def imbalance_of(measured: Measured, case: Case) -> float:
    """The mean over algorithms and observations, in seconds."""
    found = [
        arrivals.call_statistics(*metrics.times(contender))["imbalance"]
        for contender in measured.cells[case]["contenders"]
    ]
    return float(np.mean(found))


def largest_cases(measured: Measured) -> list[tuple[int, int]]:
    """Up to three sizes at the largest number of ranks."""
    procs = max(measured.different("procs"))
    return [(procs, size) for size in sketches.spread(measured.different("size"), 3)]


def over_imbalance(measured: Measured) -> Iterator[Sketch]:
    if len(measured.different("arrivals")) < 2:
        return
    chosen = largest_cases(measured)
    drawing, axes = style.panels(len(chosen))
    for (procs, size), each in zip(chosen, axes, strict=True):
        rows = sketches.of(measured, procs=procs, size=size, distribution="regular")
        places = {row.case: imbalance_of(measured, row.case) for own in rows.values() for row in own}
        for name, own in rows.items():
            ordered = sorted(own, key=lambda row: places[row.case])
            sketches.draw_line(each, measured, name, ordered, lambda row, places=places: places[row.case])  # type: ignore[misc]
        each.set_title(f"{procs} ranks, {bytes_text(size)}")
        each.set_xscale("log")
        label_times(each.xaxis, 20)
        each.set_xlabel("first to last arrival, mean")
        set_times(each)
    style.legend(drawing, axes)
    yield Sketch(
        drawing,
        "imbalance",
        "Time against imbalance",
        "A point is an arrival pattern, at its measured imbalance, balanced calls included.",
        axes,
    )


def gains(measured: Measured) -> Iterator[Sketch]:
    """Ratios of each algorithm to native, over all cases."""
    for pattern in measured.different("arrivals"):
        found: dict[str, list[float]] = {}
        for row in measured.rows:
            ratio = row.ratios.get(selection.NATIVE)
            if ratio and row.case.arrivals == pattern:
                found.setdefault(row.name, []).append(ratio.value)
        if not found:
            continue
        drawing, axes = plt.subplots(figsize=(5, 0.45 * len(found) + 1.2))
        names = sorted(found, key=lambda name: -float(np.median(found[name])))
        boxes = axes.boxplot([found[name] for name in names], widths=0.6, patch_artist=True, **HORIZONTAL)
        for name, box, line in zip(names, boxes["boxes"], boxes["medians"], strict=True):
            box.set(facecolor=sketches.look(measured, name)["color"], alpha=0.35)
            line.set(color="#1b1f24", linewidth=1.6)
        axes.set_yticks(range(1, len(names) + 1), names)
        axes.axvline(1, color="#1b1f24", linewidth=1)
        axes.annotate(
            selection.NATIVE,
            (1, 1),
            xytext=(0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
        )
        axes.set_xscale("log")
        label_ratios(axes.xaxis)
        axes.set_xlabel("time as a part of native's (left is better)")
        yield Sketch(
            drawing,
            f"gains-{sketches.slug(pattern)}",
            f"Compared with the native algorithm{sketches.described(measured, pattern)}",
            "Over all sizes, ranks and distributions: a box has the middle half of the cases, the line is "
            "the median. At 0.5 an algorithm is twice as fast as native, at 2 half as fast.",
        )


def absorption(measured: Measured) -> Iterator[Sketch]:
    late = [pattern for pattern in measured.different("arrivals") if pattern != requests.BALANCED]
    sizes = measured.different("size")
    if not late or not any(row.absorption is not None for row in measured.rows):
        return
    procs = max(measured.different("procs"))
    chosen = sketches.spread(late, MOST_PANELS)
    drawing, axes = style.panels(len(chosen))
    for pattern, each in zip(chosen, axes, strict=True):
        for name, rows in sketches.of(
            measured, procs=procs, arrivals=pattern, distribution="regular"
        ).items():
            each.plot(
                [row.size for row in rows],
                [row.absorption or 0.0 for row in rows],
                label=name,
                markersize=4,
                linewidth=1.3,
                **sketches.look(measured, name),
            )
        each.axhline(0, color="#1b1f24", linewidth=1)
        each.set_title(f"{pattern}, {procs} ranks")
        set_sizes(each, sizes, sketches.size_head(measured))
        each.set_ylabel("absorption / balanced run time")
    style.legend(drawing, axes)
    yield Sketch(
        drawing,
        "absorption",
        "How much of the imbalance is absorbed",
        "Normalised absorption (r' - r + ω)/r', medians: 0 means that lateness costs exactly itself, 1 that "
        "a whole balanced run is hidden behind the waiting; higher is better.",
        axes,
    )
