# SPDX-License-Identifier: BSD-3-Clause
"""UpSet plot of wins: by the least, the mean and the greatest time of all ranks (Lex et al. 2014).
The Sparbit work shows the same as Venn diagrams of one algorithm."""

from collections import Counter
from collections.abc import Iterator

from matplotlib import pyplot as plt

from convene.bench import metrics
from convene.bench.report.measured import Measured
from convene.bench.report.sketches import Sketch, look
from convene.plots.style import legend

Kinds = tuple[bool, ...]  # of bench_metrics.OF_RANKS: whether it wins by each
ABSENT = "#d5dae0"
PRESENT = "#1b1f24"


def count(measured: Measured) -> dict[Kinds, Counter[str]]:
    """By combination of kinds: in how many cases each algorithm is the best by exactly these. The
    frequent ones first."""
    found: dict[Kinds, Counter[str]] = {}
    for cell in measured.cells.values():
        winners = metrics.winners_of_ranks(cell)
        for name in dict.fromkeys(winners):  # in order: reports repeat
            found.setdefault(tuple(each == name for each in winners), Counter())[name] += 1
    return dict(sorted(found.items(), key=lambda entry: -entry[1].total()))


def upset(measured: Measured) -> Iterator[Sketch]:
    if not measured.tells_every_rank or len(measured.algorithms) < 2:
        return
    found = count(measured)
    drawing, (bars, dots) = plt.subplots(
        2, 1, figsize=(1.6 + 0.8 * len(found) + 2, 4), sharex=True, height_ratios=(2, 1)
    )
    for place, (kinds, winners) in enumerate(found.items()):
        below = 0
        for name in measured.algorithms:
            if winners[name]:
                colour = look(measured, name)["color"]
                bars.bar(place, winners[name], bottom=below, width=0.6, color=colour, label=name)
                below += winners[name]
        bars.text(place, below, str(below), ha="center", va="bottom")
        rows = [row for row, wins in enumerate(kinds) if wins]
        dots.plot([place, place], [min(rows), max(rows)], color=PRESENT, linewidth=2)
        for row, wins in enumerate(kinds):
            dots.plot(place, row, "o", color=PRESENT if wins else ABSENT, markersize=9)
    bars.set_ylabel("wins")
    bars.set_ylim(0, 1.12 * max(winners.total() for winners in found.values()))
    bars.tick_params(bottom=False)
    dots.set_yticks(range(len(metrics.OF_RANKS)), [f"{name} time" for name in metrics.OF_RANKS])
    dots.set_xticks([])
    dots.set_xlim(-0.6, len(found) - 0.4)
    dots.set_ylim(len(metrics.OF_RANKS) - 0.5, -0.5)
    dots.grid(visible=False)
    for side in dots.spines.values():
        side.set_visible(False)
    legend(drawing, [bars])
    yield Sketch(
        drawing,
        "wins-together",
        "Which wins go together",
        "Each column is a combination of the least, the mean and the greatest time of all ranks; its bar "
        "counts the "
        "cases in which an algorithm is the best by exactly these, in the mean over observations.",
    )
