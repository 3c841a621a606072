# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figure of the benchmark of reductions with late ranks, from its summary."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
from convene.base.text import bytes_text
from convene.plots import compact_svg
from convene.plots.axes import label_ratios
from convene.stats.bootstrap import Estimate
from convene.studies.clairvoyant import atomic as clairvoyant_atomic
from matplotlib import pyplot as plt

from benchmarks.common.summaries import Report

TRUE_FORECAST, NO_FORECAST, WRONG_FORECAST, AVERAGE = (
    "clairvoyant@truth",
    "clairvoyant",
    "clairvoyant@mirrored",
    "clairvoyant@average",
)
BY_NODES = "hier(clairvoyant,linear)@truth"  # where there are several nodes
BASELINES = (
    *("native", "linear", "binomial", "binary", "butterfly", "ring", "radix_k", "pipeline", "two_tree"),
    "local_redirect",
)
COMPARED = ("binomial", "butterfly", "ring", "radix_k")  # by the source


@dataclass(frozen=True)
class Cell:
    """The same in a summary: medians, and the gain over the best of the others."""

    size: int
    run_time: float
    times: float
    best: str
    gain: Estimate
    p: float
    medians: dict[str, float]

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Cell":
        gain = Estimate(row["gain"], row["low"], row["high"])
        return cls(
            row["bytes"],
            row["run_time"],
            row["late_by_run_times"],
            row["best_of_others"],
            gain,
            row["p"],
            row["medians"],
        )

    @property
    def delay(self) -> float:
        return self.times * self.run_time

    def over_true_forecast(self, name: str) -> float:
        return self.medians[name] / self.medians[TRUE_FORECAST]

    def absorbs(self, name: str, balanced: "Cell") -> float:
        """Which part of the balanced run time of an algorithm hides behind the delay."""
        even = balanced.medians[name]
        return (even + self.delay - self.medians[name]) / even


def as_time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def late_table(cells: list[Cell]) -> str:
    has_nodes = BY_NODES in cells[0].medians
    lines = [
        "| bytes | late by | Clairvoyant | best of the others | its time over Clairvoyant's | p "
        f"| without forecast | with a wrong one {'| between nodes ' if has_nodes else ''}"
        "| absorbs | others, most |",
        f"|---:|---:|---:|---|---|---:|---:|---:|{'---:|' if has_nodes else ''}---:|---:|",
    ]
    balanced = {cell.size: cell for cell in cells if cell.times == 0}
    for cell in cells:
        best, even, gain = cell.best, balanced[cell.size], cell.gain
        others = max(cell.absorbs(name, even) for name in BASELINES if name in cell.medians)
        hidden = f"{cell.absorbs(TRUE_FORECAST, even):.0%} | {others:.0%}" if cell.times else " | "
        lines.append(
            f"| {bytes_text(cell.size)} | {cell.times:g} of {as_time(cell.run_time)} "
            f"| {as_time(cell.medians[TRUE_FORECAST])} | {best}, {as_time(cell.medians[best])} "
            f"| {gain.value:.2f} ({gain.low:.2f} … {gain.high:.2f}) | {cell.p:.2g} "
            f"| {cell.over_true_forecast(NO_FORECAST):.2f} "
            f"| {cell.over_true_forecast(WRONG_FORECAST):.2f} "
            + (f"| {cell.over_true_forecast(BY_NODES):.2f} " if has_nodes else "")
            + f"| {hidden} |"
        )
    return "\n".join(lines) + "\n"


def sentences(cells: list[Cell]) -> str:
    """What became of the source's findings here."""
    late = [cell for cell in cells if cell.times > 0]
    won = [cell for cell in late if cell.gain.low > 1]
    lost = [cell for cell in late if cell.gain.high < 1]
    most = max(late, key=lambda cell: cell.gain.value)
    balanced = {cell.size: cell for cell in cells if cell.times == 0}
    order = {(cell.size, cell.times): sorted(COMPARED, key=cell.medians.__getitem__) for cell in cells}
    kept = [size for size in balanced if all(o == order[size, 0] for (s, _), o in order.items() if s == size)]

    def slowdown(cell: Cell) -> float:
        return cell.medians["ring"] - cell.delay - balanced[cell.size].medians["ring"]

    slowed = max(late, key=slowdown)
    even = balanced[slowed.size].medians["ring"]
    lines = [
        "With the last rank late Clairvoyant with the true forecast is faster than every other one in "
        f"{len(won)} of {len(late)} cells, beyond the interval, and slower than the best of them in "
        f"{len(lost)}; at most {most.gain.value:.2f} times as fast "
        f"({bytes_text(most.size)}, {most.times:g} run times). The source: in all, nearly twice.",
        f"The ring's collapse: a delay costs it at most {slowdown(slowed):+.3g} s "
        f"beyond itself ({bytes_text(slowed.size)}, {slowed.times:g} run times; balanced it takes "
        f"{even:.3g} s). The source: a hundredfold slowdown at 128 KiB.",
        f"The order of {', '.join(COMPARED)} is the balanced one under every delay for {len(kept)} of "
        f"{len(balanced)} sizes. The source: for four of five.",
    ]
    return "\n".join(f"- {line}" for line in lines) + "\n"


def trace_table(found: dict[str, Any]) -> str:
    lines = [
        f"{bytes_text(found['bytes'])} in one piece, {found['iterations']} iterations, ranks spread "
        f"over {as_time(found['spread'])}: seconds in all.",
        "",
        "| algorithm | seconds | of binomial | p | published, of binomial |",
        "|---|---:|---:|---:|---:|",
    ]
    published = {
        "local_redirect": "local_redirect",
        f"{NO_FORECAST};segments=1@average": clairvoyant_atomic.AVERAGE,
        f"{NO_FORECAST};segments=1@truth": clairvoyant_atomic.TRUTH,
    }
    for name, row in found["contenders"].items():
        there = (
            clairvoyant_atomic.PUBLISHED[published[name]] / clairvoyant_atomic.PUBLISHED["binomial"]
            if name in published
            else None
        )
        lines.append(
            f"| {name} | {row['seconds']:.3f} | {row['of_binomial']:.3f} "
            f"| {'' if row['p'] is None else format(row['p'], '.2g')} "
            f"| {'' if there is None else f'{there:.3f}'} |"
        )
    return "\n".join(lines) + "\n"


def draw(cells: list[Cell], path: Path) -> None:
    """Times over that of Clairvoyant with the truth, over the delay; a panel for each size."""
    mpl.rcParams.update({"svg.hashsalt": "convene", "svg.fonttype": "none", "font.size": 9})
    sizes = list(dict.fromkeys(cell.size for cell in cells))
    shown = (
        NO_FORECAST,
        WRONG_FORECAST,
        "native",
        "binomial",
        "butterfly",
        "ring",
        "radix_k",
        "pipeline",
        "local_redirect",
    )
    figure, panels = plt.subplots(
        1, len(sizes), figsize=(2.6 * len(sizes) + 1.6, 3.4), sharey=True, layout="constrained", squeeze=False
    )
    colours = plt.get_cmap("tab10").colors  # type: ignore[attr-defined]
    for panel, size in zip(panels[0], sizes, strict=True):
        own = [cell for cell in cells if cell.size == size]
        for name, colour, marker in zip(shown, colours, "osv^<>DXP", strict=False):
            ratios = [cell.over_true_forecast(name) for cell in own]
            panel.plot(
                [cell.times for cell in own], ratios, color=colour, marker=marker, ms=3.5, lw=1.1, label=name
            )
        panel.axhline(1, color="black", lw=0.8)
        panel.set_title(bytes_text(size))
        panel.set_xlabel("late by … run times")
        panel.grid(axis="y", lw=0.3)
    panels[0][0].set_yscale("log")
    label_ratios(panels[0][0].yaxis)
    panels[0][0].set_ylabel("time / time with the true forecast")
    panels[0][-1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    compact_svg.save(figure, path)


def cells_of(result: dict[str, Any]) -> list[Cell]:
    return [Cell.from_json(row) for row in result["cells"]]


def as_text(result: dict[str, Any]) -> str:
    options, cells = result["options"], cells_of(result)
    about = (
        f"{options['procs']} ranks, {result['place']}; medians of {options['repetitions']} repetitions; p: "
        "of a permutation test.\n"
    )
    return "\n".join((about, late_table(cells), sentences(cells), trace_table(result["trace"])))


REPORT = Report(as_text, lambda result, path: draw(cells_of(result), path))
