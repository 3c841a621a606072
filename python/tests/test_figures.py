# SPDX-License-Identifier: BSD-3-Clause
"""Figures: texts do not run together and stay inside, narrow windows shrink them, and axes have labels."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from convene.base.text import bytes_text
from convene.bench.report import sketches
from convene.plots import axes as plot_axes
from convene.plots import compact_svg, style
from matplotlib import pyplot as plt
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

Convene = Any

ROOT = Path(__file__).resolve().parent.parent.parent
SVG = "{http://www.w3.org/2000/svg}"
REGULAR, BOLD = FontProperties(family="DejaVu Sans"), FontProperties(family="DejaVu Sans", weight="bold")
METRICS = TextToPath()
HEIGHT = 0.7  # of a figure or capital letter, in sizes of the font


def advance(text: str, size: float, *, bold: bool) -> float:
    """The width of a text in the widest of the common fonts."""
    width, _, _ = METRICS.get_text_width_height_descent(text, BOLD if bold else REGULAR, ismath=False)
    return float(width) * size / (BOLD if bold else REGULAR).get_size_in_points()


@dataclass(frozen=True)
class Box:
    text: str
    left: float
    right: float
    top: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > 0.3 and down > 0.3


def boxes_of(text: ElementTree.Element) -> Iterator[Box]:
    """The box of a text, and of each of its parts, which follow one another."""
    x, y = float(text.get("x", 0)), float(text.get("y", 0))
    for part in [*text.iter(f"{SVG}tspan")] or [text]:
        size = float(part.get("font-size", text.get("font-size", 0)))
        width = advance(part.text or "", size, bold=part.get("font-weight") == "bold")
        anchor = text.get("text-anchor", "middle")
        left = x + float(part.get("dx", 0)) - {"start": 0, "middle": width / 2, "end": width}[anchor]
        yield Box(part.text or "", left, left + width, y - HEIGHT * size, y)
        x = left + width


PICTURES = (
    "allgather ring -p 8",
    "allgather ring -p 13",
    "allgather sparbit -p 16 --rings --mapping node:4;core:4",
    "allreduce recursive_doubling -p 8",
    "alltoall bruck -p 8",
    "alltoall pairwise -p 24 --rounds 12",
    "bcast binomial -p 2",
    "barrier dissemination -p 4",
    "reduce clairvoyant -p 6 --segments 3",
    "neighbor_allgather combining -p 12 --graph moore:4x3",
)


@pytest.mark.parametrize("wanted", [None, 400, 2000])
@pytest.mark.parametrize("words", PICTURES)
def test_texts_of_pictures_are_apart_and_inside(convene: Convene, words: str, wanted: int | None) -> None:
    width_option = () if wanted is None else ("--width", wanted)
    done = convene(
        "show", *(each.replace(";", " ") for each in words.split()), "--format", "svg", *width_option
    )
    assert done.status == 0, done
    root = ElementTree.fromstring(done.out)
    assert "max-width:100%;height:auto" in root.get("style", "")
    _, _, width, height = map(float, root.get("viewBox", "").split())
    if wanted is not None and " 24 " not in words:  # 24 columns do not fit into 400 pixels
        assert width <= wanted
    boxes = [box for text in root.iter(f"{SVG}text") for box in boxes_of(text)]
    assert len(boxes) > 10
    assert [box for box in boxes if box.left < 0 or box.right > width or box.bottom > height] == []
    assert [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])] == []


@pytest.mark.parametrize(("name", "options"), [("sparbit", ()), ("sparbit-narrow", ("--width", 400))])
def test_pictures_of_the_readme_are_up_to_date(
    convene: Convene, name: str, options: tuple[object, ...]
) -> None:
    assert f'="docs/{name}.svg"' in (ROOT / "README.md").read_text()
    drawn = convene("show", "allgather", "sparbit", "-p", 8, "--format", "svg", *options).out
    assert (ROOT / "docs" / f"{name}.svg").read_text() == drawn


PLOTTED = re.compile(r"font: (?:bold )?([\d.]+)px|font-size: ([\d.]+)px")
ROTATED = re.compile(r"rotate\((-?[\d.]+)")
TRANSLATED = re.compile(r"translate\((-?[\d.]+) (-?[\d.]+)\)")


def boxes_of_plot(svg: str) -> list[Box]:
    """The boxes of a plot's texts, which are horizontal or go upwards."""
    found = []
    for text in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        style_of_text = text.get("style", "")
        size_at = PLOTTED.search(style_of_text)
        if size_at is None or not text.text:
            continue
        size, x, y = float(size_at[1] or size_at[2]), float(text.get("x", 0)), float(text.get("y", 0))
        moved = TRANSLATED.search(text.get("transform", ""))  # a line of several
        x, y = (float(moved[1]), float(moved[2])) if moved else (x, y)
        width = advance(text.text, size, bold=False)
        before = width / 2 if "middle" in style_of_text else width if "anchor: end" in style_of_text else 0
        turned = ROTATED.search(text.get("transform", ""))
        if turned and float(turned[1]) == -90:
            found.append(Box(text.text, x - HEIGHT * size, x, y - width + before, y + before))
        else:
            found.append(Box(text.text, x - before, x - before + width, y - HEIGHT * size, y))
    return found


def check_texts(svg: str) -> None:
    """Texts of a plot are inside, and none is on another."""
    _, _, width, height = map(float, ElementTree.fromstring(svg).get("viewBox", "").split())
    boxes = boxes_of_plot(svg)
    outside = [
        box
        for box in boxes
        if min(box.left, box.top) < -1 or box.right > width + 1 or box.bottom > height + 1
    ]
    assert outside == []
    assert [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])] == []


@pytest.mark.parametrize(
    "svg",
    [
        '<text style="font-size: 10px; text-anchor: end" x="20" y="30">crossing the edge</text>',
        '<text style="font: 9px" x="20" y="30">a</text><text style="font: 9px" x="23" y="32">b</text>',
        '<text style="font-size: 10px" x="20" y="30" transform="rotate(-90 20 30)">upwards</text>',
    ],
)
def test_wrong_texts_are_found(svg: str) -> None:
    with pytest.raises(AssertionError):
        check_texts(f'<svg xmlns="{SVG[1:-1]}" viewBox="0 0 200 100">{svg}</svg>')


LONG_NAMES = [
    *("native", "ring", "sparbit", "recursive_doubling", "neighbor_exchange", "bruck;ports=2"),
    *("bruck;ports=3", "hier(sparbit,linear;leaders=2)", "logp_optimal", "segmented_ring;segments=8"),
    "remap(recursive_doubling)",
]


@pytest.mark.parametrize("width", [3.0, 6.0, 8.0, 12.0])
@pytest.mark.parametrize("names", [LONG_NAMES, LONG_NAMES[:3], ["native"]])
def test_legends_are_as_wide_as_their_figures(names: list[str], width: float) -> None:
    with style.style():
        drawing, (axes,) = style.panels(1, width=width)
        for name in names:
            axes.plot([1, 2], label=name)
        style.legend(drawing, [axes])
        svg = compact_svg.element(drawing)
    check_texts(svg)
    shown = [box for box in boxes_of_plot(svg) if box.text in names]
    assert len(shown) == len(names)
    assert max(box.right for box in shown) - min(box.left for box in shown) <= 72 * max(width, 6.0)


def test_entries_of_legends_are_close_together_on_pages() -> None:
    with style.style():
        drawing, (axes,) = style.panels(1)
        for name in LONG_NAMES:
            axes.plot([1, 2], label=name)
        style.legend(drawing, [axes])
        figure = sketches.render(sketches.Sketch(drawing, "name", "title", "", [axes]), "", False)
    assert len(figure.panels) == 1
    assert [box.text for entry in figure.legend for box in boxes_of_plot(entry)] == LONG_NAMES
    for entry in figure.legend:
        check_texts(entry)
        _, _, width, height = map(float, ElementTree.fromstring(entry).get("viewBox", "").split())
        (text,) = boxes_of_plot(entry)
        assert height < 18, text
        assert width < text.right - text.left + 45, text


@pytest.mark.parametrize(
    ("low", "high", "some"),
    [(1e-4, 1, {"0.01 %", "1 %", "100 %"}), (0.01, 0.03, {"1 %", "2 %"}), (0.02, 0.025, {"2.1 %", "2.4 %"})],
)
def test_axes_of_parts_have_percents(low: float, high: float, some: set[str]) -> None:
    def paint(axes: Any) -> None:
        axes.set_yticks([])
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        plot_axes.label_percents(axes.xaxis)

    shown = labels(drawn(paint))
    assert {*shown} >= some
    assert all(re.fullmatch(r"[\d.]+ %", label) for label in shown if label)


@pytest.mark.parametrize("low", [0.03, 0.09, 0.2, 0.3])
def test_labels_of_percents_are_apart(low: float) -> None:
    def paint(axes: Any) -> None:
        axes.set_yticks([])
        axes.set_xscale("log")
        axes.set_xlim(low, 1.1)
        plot_axes.label_percents(axes.xaxis)

    check_texts(drawn(paint))


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def labels(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def drawn(paint: Callable[[Any], None]) -> str:
    with style.style():
        drawing, (axes,) = style.panels(1)
        paint(axes)
        return compact_svg.element(drawing)


@pytest.mark.parametrize(("count", "step"), [(1, 1), (16, 1), (33, 1), (64, 1), (65, 2), (200, 4)])
def test_axes_of_ranks_have_a_regular_step(count: int, step: int) -> None:
    def paint(axes: Any) -> None:
        axes.set_ylim(count - 0.4, -0.6)
        axes.set_xticks([])
        plot_axes.set_ranks(axes, range(count))

    assert labels(drawn(paint)) == [*map(str, range(0, count, step)), "rank"]


@pytest.mark.parametrize(
    "sizes", [[8], [0, 8], [8, 16], [1, 8, 4096], [1 << i for i in range(21)], [0, 1, 1 << 20]]
)
def test_axes_of_sizes_have_labels(sizes: list[int]) -> None:
    def paint(axes: Any) -> None:
        axes.plot(sizes, [1.0] * len(sizes))
        axes.set_yticks([])
        plot_axes.set_sizes(axes, sizes, "bytes")

    *shown, head = labels(drawn(paint))
    assert head == "bytes"
    assert shown[0] == bytes_text(sizes[0])
    assert len(shown) >= min(len(sizes), 2)


@pytest.mark.parametrize("sizes", [[0, 8, 1 << 20], [1, 1 << 20]])
def test_axes_of_sizes_end_at_their_sizes(sizes: list[int]) -> None:
    with style.style():
        _, (axes,) = style.panels(1)
        axes.plot(sizes, [1.0] * len(sizes))
        axes.axhline(0)
        plot_axes.set_sizes(axes, sizes, "bytes")
        low, high = axes.transData.inverted().transform(axes.transAxes.transform([(0, 0), (1, 0)]))[:, 0]
    assert low >= sizes[0] - 8
    assert sizes[-1] < high < 2 * sizes[-1]


@pytest.mark.parametrize(
    ("low", "high"), [(7e-6, 19e-6), (15e-6, 35e-6), (2e-3, 5e-3), (62e-6, 68e-6), (1e-6, 1)]
)
def test_axes_of_times_have_labels(low: float, high: float) -> None:
    def paint(axes: Any) -> None:
        axes.set_xticks([])
        axes.set_ylim(low, high)
        plot_axes.set_times(axes)
        axes.set_ylim(low, high)

    assert len([label for label in labels(drawn(paint)) if label]) >= 3


def test_axes_of_unknown_sizes_have_labels() -> None:
    def paint(axes: Any) -> None:
        axes.set_xscale("symlog", base=2, linthresh=1)
        axes.set_yticks([])
        plot_axes.label_sizes(axes.xaxis)
        axes.plot([0, 1, 1 << 20], [1, 1, 1])

    assert labels(drawn(paint)) == ["0 B", "1 B", "16 B", "256 B", "4 KiB", "64 KiB", "1 MiB"]


def test_figures_shrink_to_narrow_windows(tmp_path: Path) -> None:
    with style.style():
        drawing, _ = style.panels(2)
    path = tmp_path / "figure.svg"
    compact_svg.save(drawing, path)
    root = ElementTree.fromstring(path.read_text())
    assert root.get("viewBox")
    assert root.get("style", "").endswith("max-width:100%;height:auto")
    assert f"--width:{root.get('width')};" in root.get("style", "")
