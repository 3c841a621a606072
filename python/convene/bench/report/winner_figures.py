# SPDX-License-Identifier: BSD-3-Clause
"""Maps of the fastest algorithm over sizes and ranks."""

from collections.abc import Iterable, Iterator, Mapping

from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from convene.base.text import bytes_text
from convene.bench.report import sketches
from convene.bench.report.measured import Measured, Win
from convene.bench.report.sentences import percent
from convene.bench.report.sketches import Sketch

CHARACTER, LINE = 0.07, 0.155  # inches, at FONT_SIZE points
FONT_SIZE = 8
MOST_TIED = 3  # with their names in a cell
TIED_COLOUR = "#8a929c"


def winners(measured: Measured) -> Iterator[Sketch]:
    """Ranks and sizes, with the fastest and its gain over the second: a map for each pattern."""
    for pattern in measured.different("arrivals"):
        for distribution in measured.different("distribution"):
            wins = {
                (win.case.procs, win.case.size): win
                for win in measured.wins
                if (win.case.arrivals, win.case.distribution) == (pattern, distribution)
            }
            if not wins:
                continue
            drawing = draw_map(measured, wins)
            what = sketches.described(measured, pattern, distribution)
            yield Sketch(
                drawing,
                f"winners-{sketches.slug(pattern)}-{distribution}",
                f"The fastest{what}",
                "Which algorithm was the fastest, and by how much of the second one's time (the stronger the "
                f"colour, the more). {remark(measured, wins.values())}".strip(),
            )


def remark(measured: Measured, wins: Iterable[Win]) -> str:
    if not measured.is_exact:
        return "A question mark: the lead may be chance."
    return "Grey: several are equally fast." if any(win.tied for win in wins) else ""


def draw_map(measured: Measured, wins: Mapping[tuple[int, int], Win]) -> Figure:
    """Cells as large as the names in them."""
    procs, sizes = measured.different("procs"), measured.different("size")
    texts = {case: cell_lines(win) for case, win in wins.items()}
    width = 0.15 + CHARACTER * max(len(line) for lines in texts.values() for line in lines)
    height = 0.12 + LINE * max(len(lines) for lines in texts.values())
    drawing, axes = plt.subplots(figsize=(width * len(procs) / 0.775, height * len(sizes) / 0.77))
    for (number, size), win in wins.items():
        x, y = procs.index(number), sizes.index(size)
        colour = TIED_COLOUR if win.tied else sketches.look(measured, win.winner)["color"]
        strength = min(1.0, 0.25 + win.gain)
        axes.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, alpha=0.5 * strength, edgecolor="white")
        )
        text = "\n".join(texts[number, size])
        axes.text(x, y, text, ha="center", va="center", fontsize=FONT_SIZE)
    axes.set_xlim(-0.5, len(procs) - 0.5)
    axes.set_ylim(-0.5, len(sizes) - 0.5)
    axes.set_xticks(range(len(procs)), [str(number) for number in procs])
    axes.set_yticks(range(len(sizes)), [bytes_text(size) for size in sizes])
    axes.set_xlabel("ranks")
    axes.set_ylabel(sketches.size_head(measured))
    axes.grid(visible=False)
    return drawing


def cell_lines(win: Win) -> list[str]:
    if win.tied:
        names = win.tied if len(win.tied) <= MOST_TIED else (f"{len(win.tied)} algorithms",)
        return [*(line for name in names for line in sketches.in_lines(name)), "equally fast"]
    mark = "" if win.is_sure else " ?"
    return [*sketches.in_lines(win.winner), f"{percent(win.gain)}{mark}"]
