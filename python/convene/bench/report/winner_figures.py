# SPDX-License-Identifier: BSD-3-Clause
"""Maps of the fastest algorithm over sizes and ranks."""

from collections.abc import Iterator

from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

from convene.bench.report import sketches
from convene.bench.report.measured import Measured
from convene.bench.report.sketches import Sketch
from convene.plots.axes import size_label


def winners(measured: Measured) -> Iterator[Sketch]:
    """Sizes and ranks, with the fastest and its gain over the second: a map for each pattern."""
    for pattern in measured.different("arrivals"):
        for distribution in measured.different("distribution"):
            wins = {
                (win.case.procs, win.case.size): win
                for win in measured.wins
                if (win.case.arrivals, win.case.distribution) == (pattern, distribution)
            }
            if not wins:
                continue
            procs, sizes = measured.different("procs"), measured.different("size")
            width = max(5.0, 1.15 * len(sizes) + 1.2)
            drawing, axes = plt.subplots(figsize=(width, 0.72 * len(procs) + 0.9))
            for (number, size), win in wins.items():
                x, y = sizes.index(size), procs.index(number)
                colour = sketches.look(measured, win.winner)["color"]
                strength = min(1.0, 0.25 + win.gain)
                axes.add_patch(
                    Rectangle(
                        (x - 0.5, y - 0.5), 1, 1, facecolor=colour, alpha=0.5 * strength, edgecolor="white"
                    )
                )
                mark = "" if win.is_sure else " ?"
                axes.text(
                    x,
                    y,
                    f"{sketches.short(win.winner)}\n{100 * win.gain:.0f} %{mark}",
                    ha="center",
                    va="center",
                    fontsize=8,
                )
            axes.set_xlim(-0.5, len(sizes) - 0.5)
            axes.set_ylim(-0.5, len(procs) - 0.5)
            axes.set_xticks(range(len(sizes)), [size_label(size) for size in sizes])
            axes.set_yticks(range(len(procs)), [str(number) for number in procs])
            axes.set_xlabel(sketches.size_head(measured))
            axes.set_ylabel("ranks")
            axes.grid(visible=False)
            what = sketches.described(measured, pattern, distribution)
            yield Sketch(
                drawing,
                f"winners-{sketches.slug(pattern)}-{distribution}",
                f"The fastest{what}",
                "Which algorithm was the fastest, and by how much of the second one's time (the stronger the "
                "colour, the more). A question mark: the lead may be chance.",
            )
