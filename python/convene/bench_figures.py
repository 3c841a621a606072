# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a measurement's report, drawn by Matplotlib: SVG with text that can be searched, and PDF."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from scipy import stats

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator

from convene import _core, bench, bench_inference, bench_metrics
from convene.bench_statistics import Case, Row
from convene.report import seconds_text

if TYPE_CHECKING:
    from convene.bench_report import Compared, Measured

# Okabe and Ito's colours, which people with colour blindness can tell apart; the MPI's own is always black.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f")
MARKERS = "osD^vP*X"
OWN_COLOUR = "#000000"

MOST_PANELS = 6
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "convene",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "axes.axisbelow": True,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Sketch:
    """A figure that is drawn, but not yet in any format."""

    drawing: Drawing
    name: str
    title: str
    caption: str


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    caption: str
    svg: str
    pdf: bytes  # empty where nobody wants it


def render(sketch: Sketch, prefix: str, with_pdf: bool) -> Figure:
    text, pdf = io.StringIO(), io.BytesIO()
    drawing, title = sketch.drawing, sketch.title
    drawing.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Title": title})
    if with_pdf:
        drawing.savefig(pdf, format="pdf", bbox_inches="tight", metadata={"CreationDate": None})
    plt.close(drawing)
    svg = text.getvalue()
    return Figure(prefix + sketch.name, title, sketch.caption, svg[svg.index("<svg") :], pdf.getvalue())


@contextmanager
def style() -> Iterator[None]:
    with mpl.rc_context(STYLE):
        yield


def look(measured: "Measured", name: str) -> dict[str, Any]:
    """An algorithm's colour and marker: the same in all figures."""
    if name == bench.NATIVE:
        return {"color": OWN_COLOUR, "marker": "x"}
    place = [each for each in measured.algorithms if each != bench.NATIVE].index(name)
    style = "-" if place < len(COLOURS) else "--"
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": style,
    }


def panels(
    number: int, width: float = 4.2, height: float = 3.3, columns: int | None = None
) -> tuple[Drawing, list[Axes]]:
    columns = columns or (2 if number == 4 else min(number, 3))
    rows = -(-number // columns)
    drawing, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    found = list(axes.ravel())
    for spare in found[number:]:
        spare.set_visible(False)
    drawing.subplots_adjust(wspace=0.3, hspace=0.45)
    return drawing, found[:number]


def legend(drawing: Drawing, axes: Sequence[Axes]) -> None:
    entries: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    drawing.legend(
        entries.values(),
        entries.keys(),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=min(len(entries), 6),
    )


def size_label(size: float) -> str:
    return _core.format_size(round(size))


def size_title(size: int) -> str:
    text = size_label(size)
    return text if text.endswith("B") else f"{text} B"


def set_sizes(axes: Axes, sizes: Sequence[int], head: str) -> None:
    axes.set_xscale("log" if min(sizes) > 0 else "symlog")
    shown = sizes[:: max(1, -(-len(sizes) // 4))]
    axes.set_xticks(shown, [size_label(size) for size in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(head)


def label_times(axis: Axis, most: float) -> None:
    """Of a logarithmic axis; where its ends differ by no more than `most` times, 2 and 5 have labels, too."""
    low, high = axis.get_view_interval()
    subs = (1.0, 2.0, 5.0) if high < most * max(low, 1e-12) else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(lambda value, _: seconds_text(value))
    axis.set_minor_formatter(lambda *_: "")


def set_times(axes: Axes) -> None:
    axes.set_yscale("log")
    label_times(axes.yaxis, 300)


def size_head(measured: "Measured") -> str:
    return "bytes" if measured.collective in bench.OF_VECTORS else "bytes per block"


def draw_line(
    axes: Axes, measured: "Measured", name: str, rows: list[Row], place: Callable[[Row], float]
) -> None:
    """Times with their intervals."""
    values = np.array([[row.seconds.value, row.seconds.low, row.seconds.high] for row in rows])
    below, above = np.maximum(values[:, 0] - values[:, 1], 0), np.maximum(values[:, 2] - values[:, 0], 0)
    axes.errorbar(
        [place(row) for row in rows],
        values[:, 0],
        yerr=[below, above],
        label=name,
        capsize=2,
        markersize=4,
        linewidth=1.3,
        **look(measured, name),
    )


def of(measured: "Measured", **wanted: Any) -> dict[str, list[Row]]:
    """The rows of these cases, by algorithm."""
    found: dict[str, list[Row]] = {}
    for row in measured.rows:
        if all(getattr(row.case, key) == value for key, value in wanted.items()):
            found.setdefault(row.name, []).append(row)
    return found


def spread(values: Sequence[Any], number: int) -> list[Any]:
    """So many of them, from the first to the last."""
    if len(values) <= number:
        return list(values)
    return [values[round(i * (len(values) - 1) / (number - 1))] for i in range(number)]


def winners(measured: "Measured") -> Iterator[Sketch]:
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
                colour = look(measured, win.winner)["color"]
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
                    f"{short(win.winner)}\n{100 * win.gain:.0f} %{mark}",
                    ha="center",
                    va="center",
                    fontsize=8,
                )
            axes.set_xlim(-0.5, len(sizes) - 0.5)
            axes.set_ylim(-0.5, len(procs) - 0.5)
            axes.set_xticks(range(len(sizes)), [size_label(size) for size in sizes])
            axes.set_yticks(range(len(procs)), [str(number) for number in procs])
            axes.set_xlabel(size_head(measured))
            axes.set_ylabel("ranks")
            axes.grid(visible=False)
            what = described(measured, pattern, distribution)
            yield Sketch(
                drawing,
                f"winners-{slug(pattern)}-{distribution}",
                f"The fastest{what}",
                "Which algorithm was the fastest, and by how much of the second one's time (the stronger the "
                "colour, the more). A question mark: the lead may be chance.",
            )


def described(measured: "Measured", pattern: str, distribution: str = "regular") -> str:
    parts = []
    if len(measured.different("arrivals")) > 1:
        parts.append(f"arrivals {pattern}")
    if len(measured.different("distribution")) > 1:
        parts.append(f"{distribution} blocks")
    return f" ({', '.join(parts)})" if parts else ""


def slug(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def short(name: str, most: int = 14) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def over_sizes(measured: "Measured") -> Iterator[Sketch]:
    sizes = measured.different("size")
    if len(sizes) < 2:
        return
    for pattern in measured.different("arrivals"):
        for distribution in measured.different("distribution"):
            procs = spread(measured.different("procs"), MOST_PANELS)
            drawing, axes = panels(len(procs))
            for number, each in zip(procs, axes, strict=True):
                chosen = of(measured, procs=number, arrivals=pattern, distribution=distribution)
                for name, rows in chosen.items():
                    draw_line(each, measured, name, rows, lambda row: row.size)
                each.set_title(f"{number} ranks")
                set_sizes(each, sizes, size_head(measured))
                set_times(each)
            legend(drawing, axes)
            yield Sketch(
                drawing,
                f"sizes-{slug(pattern)}-{distribution}",
                f"Time against size{described(measured, pattern, distribution)}",
                f"{measured.metric.by.capitalize()}s with 95 % intervals; lower is better. "
                f"{measured.metric.summary[0].upper()}{measured.metric.summary[1:]}.",
            )


def over_ranks(measured: "Measured") -> Iterator[Sketch]:
    procs = measured.different("procs")
    if len(procs) < 2:
        return
    for pattern in measured.different("arrivals"):
        sizes = spread(measured.different("size"), 3)
        drawing, axes = panels(len(sizes))
        for size, each in zip(sizes, axes, strict=True):
            for name, rows in of(measured, size=size, arrivals=pattern, distribution="regular").items():
                draw_line(each, measured, name, rows, lambda row: row.case.procs)
            each.set_title(size_title(size) if size else "")
            each.set_xticks(procs, [str(number) for number in procs])
            each.set_xlabel("ranks")
            set_times(each)
        legend(drawing, axes)
        yield Sketch(
            drawing,
            f"ranks-{slug(pattern)}",
            f"Time against the number of ranks{described(measured, pattern)}",
            f"{measured.metric.by.capitalize()}s with 95 % intervals; lower is better.",
        )


def imbalance_of(measured: "Measured", case: Case) -> float:
    """The mean of what was measured, over algorithms and observations, in seconds."""
    found = [
        bench_metrics.call_statistics(*bench_metrics.times(contender))["imbalance"]
        for contender in measured.cells[case]["contenders"]
    ]
    return float(np.mean(found))


def largest_cases(measured: "Measured") -> list[tuple[int, int]]:
    """Up to three sizes at the largest number of ranks."""
    procs = max(measured.different("procs"))
    return [(procs, size) for size in spread(measured.different("size"), 3)]


def over_imbalance(measured: "Measured") -> Iterator[Sketch]:
    if len(measured.different("arrivals")) < 2:
        return
    chosen = largest_cases(measured)
    drawing, axes = panels(len(chosen))
    for (procs, size), each in zip(chosen, axes, strict=True):
        rows = of(measured, procs=procs, size=size, distribution="regular")
        places = {row.case: imbalance_of(measured, row.case) for own in rows.values() for row in own}
        for name, own in rows.items():
            ordered = sorted(own, key=lambda row: places[row.case])
            draw_line(each, measured, name, ordered, lambda row, places=places: places[row.case])  # type: ignore[misc]
        each.set_title(f"{procs} ranks, {size_title(size)}")
        each.set_xscale("log")
        label_times(each.xaxis, 20)
        each.set_xlabel("first to last arrival, mean")
        set_times(each)
    legend(drawing, axes)
    yield Sketch(
        drawing,
        "imbalance",
        "Time against imbalance",
        "A point is an arrival pattern; it lies where the ranks really came, balanced calls included.",
    )


def gains(measured: "Measured") -> Iterator[Sketch]:
    """How each algorithm compares with the MPI's own, over all cases."""
    for pattern in measured.different("arrivals"):
        found: dict[str, list[float]] = {}
        for row in measured.rows:
            ratio = row.ratios.get(bench.NATIVE)
            if ratio and row.case.arrivals == pattern:
                found.setdefault(row.name, []).append(ratio.value)
        if not found:
            continue
        drawing, axes = plt.subplots(figsize=(7, 0.45 * len(found) + 1.2))
        names = sorted(found, key=lambda name: -float(np.median(found[name])))
        boxes = axes.boxplot(
            [found[name] for name in names], orientation="horizontal", widths=0.6, patch_artist=True
        )
        for name, box, line in zip(names, boxes["boxes"], boxes["medians"], strict=True):
            box.set(facecolor=look(measured, name)["color"], alpha=0.35)
            line.set(color="#1b1f24", linewidth=1.6)
        axes.set_yticks(range(1, len(names) + 1), names)
        axes.axvline(1, color="#1b1f24", linewidth=1)
        axes.set_xscale("log")
        label_ratios(axes.xaxis)
        axes.set_xlabel("time as a part of native's (left is better)")
        yield Sketch(
            drawing,
            f"gains-{slug(pattern)}",
            f"Against the MPI's own choice{described(measured, pattern)}",
            "Over all sizes, ranks and distributions: a box has the middle half of the cases, the line is "
            "the median. At 0.5 an algorithm is twice as fast as native, at 2 half as fast.",
        )


def label_ratios(axis: Axis) -> None:
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if high > 4 * low else MaxNLocator(6))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(lambda *_: "")


def absorption(measured: "Measured") -> Iterator[Sketch]:
    late = [pattern for pattern in measured.different("arrivals") if pattern != bench.BALANCED]
    sizes = measured.different("size")
    if not late or not any(row.absorption is not None for row in measured.rows):
        return
    procs = max(measured.different("procs"))
    chosen = spread(late, MOST_PANELS)
    drawing, axes = panels(len(chosen))
    for pattern, each in zip(chosen, axes, strict=True):
        for name, rows in of(measured, procs=procs, arrivals=pattern, distribution="regular").items():
            each.plot(
                [row.size for row in rows],
                [row.absorption or 0.0 for row in rows],
                label=name,
                markersize=4,
                linewidth=1.3,
                **look(measured, name),
            )
        each.axhline(0, color="#1b1f24", linewidth=1)
        each.set_title(f"{pattern}, {procs} ranks")
        set_sizes(each, sizes, size_head(measured))
        each.set_ylabel("absorption / balanced run time")
    legend(drawing, axes)
    yield Sketch(
        drawing,
        "absorption",
        "How much of the imbalance is absorbed",
        "Normalised absorption (r' - r + ω)/r', medians: 0 means that lateness costs exactly itself, 1 that "
        "a whole balanced run is hidden behind the waiting; higher is better.",
    )


def variation(measured: "Measured") -> Iterator[Sketch]:
    if not measured.is_repeated:
        return
    found: dict[str, list[float]] = {}
    for row in measured.rows:
        value = bench_inference.variation(measured.values(row.case, row.name))
        found.setdefault(row.name, []).append(value)
    drawing, axes = plt.subplots(figsize=(6.5, 3.4))
    for name, values in found.items():
        shape = {key: value for key, value in look(measured, name).items() if key != "marker"}
        axes.ecdf(np.maximum(values, 1e-4), label=name, linewidth=1.6, **shape)
    axes.set_xscale("log")
    axes.set_xlabel("coefficient of variation of a sample")
    axes.set_ylabel("share of cases")
    legend(drawing, [axes])
    yield Sketch(
        drawing,
        "variation",
        "How much times vary",
        "For each algorithm the share of cases whose observations vary by no more than that (standard "
        "deviation by mean); further left is steadier.",
    )


def worst_sample(measured: "Measured") -> Iterator[Sketch]:
    """The sample that looks least like independent draws."""
    rows = [row for row in measured.rows if row.observations >= bench_inference.LEAST]
    if not rows:
        return
    row = min(rows, key=lambda each: bench_inference.runs_test(measured.values(each.case, each.name)))
    sample = measured.values(row.case, row.name)
    drawing, axes = panels(3)
    flags = bench_inference.is_outlier(sample)
    order = np.arange(len(sample))
    axes[0].plot(order, sample, ".", color=COLOURS[0])
    axes[0].plot(order[flags], sample[flags], "o", color=COLOURS[1], fillstyle="none", label="outlier")
    axes[0].set_xlabel("repetition")
    set_times(axes[0])
    axes[1].hist(sample, bins="auto", density=True, color=COLOURS[0], alpha=0.4)
    place = np.linspace(sample.min(), sample.max(), 200)
    deviation = float(np.std(sample, ddof=1))
    if deviation > 0:
        axes[1].plot(
            place, stats.norm.pdf(place, np.mean(sample), deviation), color=OWN_COLOUR, label="normal"
        )
    axes[1].xaxis.set_major_formatter(lambda value, _: seconds_text(value))
    axes[1].xaxis.set_major_locator(MaxNLocator(3))
    axes[1].set_yticks([])
    axes[1].set_xlabel("time")
    lags = bench_inference.autocorrelation(sample)
    axes[2].bar(np.arange(1, len(lags) + 1), lags, color=COLOURS[0], alpha=0.6)
    for side in (-1, 1):
        axes[2].axhline(side * 1.96 / np.sqrt(len(sample)), color=COLOURS[1], linestyle="--", linewidth=1)
    axes[2].set_xlabel("lag")
    axes[2].set_ylabel("autocorrelation of ranks")
    legend(drawing, axes)
    case = row.case
    yield Sketch(
        drawing,
        "sample",
        "The sample that looks least independent",
        f"{row.name}, {case.procs} ranks, {size_title(case.size)}, arrivals {case.arrivals}: in order, as a "
        "histogram with the normal distribution of the same mean and deviation, and its autocorrelation "
        "(95 % of independent samples stay between the dashed lines).",
    )


def executions(measured: "Measured") -> Iterator[Sketch]:
    """One repetition with late ranks: who was inside when."""
    late = [case for case in measured.cells if case.arrivals != bench.BALANCED]
    if not late or not measured.tells_every_rank:
        return
    case = max(late, key=lambda each: (each.procs, each.size))
    cell = measured.cells[case]
    valid = np.flatnonzero(bench_metrics.valid_observations(cell))
    if not len(valid):
        return
    reference = bench_metrics.values(cell, measured.metric)[0]
    chosen = int(valid[np.argsort(reference)[len(reference) // 2]])
    contenders = spread(cell["contenders"], MOST_PANELS)
    drawing, axes = panels(len(contenders), height=2.6)
    for contender, each in zip(contenders, axes, strict=True):
        arrivals, exits = (times[chosen] * 1e3 for times in bench_metrics.times(contender))
        for rank, (begin, end) in enumerate(zip(arrivals, exits, strict=True)):
            waits = max(0.0, min(end, arrivals.max()) - begin)
            each.broken_barh([(begin, waits)], (rank - 0.4, 0.8), color="#c9ced6")
            each.broken_barh([(begin + waits, end - begin - waits)], (rank - 0.4, 0.8), color=COLOURS[1])
        each.axvline(arrivals.max(), color=OWN_COLOUR, linewidth=1, linestyle=":")
        each.set_title(contender["name"])
        each.set_xlabel("ms")
        each.set_ylabel("rank")
        each.set_ylim(case.procs - 0.5, -0.5)
        each.grid(visible=False, axis="y")
    yield Sketch(
        drawing,
        "execution",
        "One call with late ranks",
        f"{case.procs} ranks, {size_title(case.size)}, arrivals {case.arrivals}: each rank from arrival to "
        "exit; grey is before the last one came (dotted line), orange after it.",
    )


ALL = (
    winners,
    over_sizes,
    over_ranks,
    over_imbalance,
    gains,
    absorption,
    executions,
    variation,
    worst_sample,
)


def all_figures(
    measured: "Measured",
    prefix: str,
    with_pdf: bool,
    others: Sequence[Callable[["Measured"], Iterator[Sketch]]] = (),
) -> list[Figure]:
    with style():
        return [render(sketch, prefix, with_pdf) for draw in (*ALL, *others) for sketch in draw(measured)]


def comparison(compared: "list[Compared]", first: str, second: str, with_pdf: bool) -> Figure:
    """All ratios with their intervals, in order."""
    with style():
        ordered = sorted(compared, key=lambda each: each.ratio)
        drawing, axes = plt.subplots(figsize=(8, 3.6))
        colours = {"faster": COLOURS[2], "slower": COLOURS[1], "no difference to be seen": "#8a929c"}
        for verdict, colour in colours.items():
            own = [(place, each) for place, each in enumerate(ordered) if each.verdict == verdict]
            if not own:
                continue
            values = np.array([[each.ratio, each.low, each.high] for _, each in own])
            errors = [np.maximum(values[:, 0] - values[:, 1], 0), np.maximum(values[:, 2] - values[:, 0], 0)]
            axes.errorbar(
                [place for place, _ in own],
                values[:, 0],
                yerr=errors,
                fmt="o",
                markersize=3,
                color=colour,
                label=f"{second} is {verdict}" if verdict != "no difference to be seen" else verdict,
            )
        axes.axhline(1, color=OWN_COLOUR, linewidth=1)
        axes.set_yscale("log")
        label_ratios(axes.yaxis)
        axes.set_ylabel("ratio of medians")
        axes.set_xlabel("cases and algorithms, in order of the ratio")
        legend(drawing, [axes])
        sketch = Sketch(
            drawing,
            "comparison",
            f"{second} by {first}",
            "One point for each case and algorithm that both have, with its 95 % interval; below 1 the "
            "second is faster.",
        )
        return render(sketch, "", with_pdf)
