# SPDX-License-Identifier: BSD-3-Clause
"""Figures of samples: variation, the least independent sample, one execution."""

from collections.abc import Iterator

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import MaxNLocator
from scipy import stats

from convene.base.text import bytes_text, seconds_text
from convene.bench import metrics, requests
from convene.bench.report import sketches
from convene.bench.report.measured import Measured
from convene.bench.report.sketches import MOST_PANELS, Sketch
from convene.plots import style
from convene.plots.axes import label_percents, set_ranks, set_times
from convene.plots.style import COLOURS, OWN_COLOUR
from convene.stats import inference

RANK_HEIGHT = 0.18  # inches
LEAST_VARIATION = 1e-4  # what is less is drawn there
MOST_LABELLED = 32  # ranks of a panel


def variation(measured: Measured) -> Iterator[Sketch]:
    if not measured.is_repeated:
        return
    found: dict[str, list[float]] = {}
    for row in measured.rows:
        value = inference.variation(measured.values(row.case, row.name))
        found.setdefault(row.name, []).append(value)
    drawing, axes = plt.subplots(figsize=(5, 3.4))
    for name, values in found.items():
        shape = {key: value for key, value in sketches.look(measured, name).items() if key != "marker"}
        places = np.sort(np.maximum(values, LEAST_VARIATION))
        shares = np.arange(len(places) + 1) / len(places)
        axes.plot([places[0], *places], shares, drawstyle="steps-post", label=name, linewidth=1.6, **shape)
    axes.set_xscale("log")
    label_percents(axes.xaxis)
    axes.set_xlabel("coefficient of variation of a sample")
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.set_ylabel("share of cases")
    axes.set_ylim(0, 1)
    style.legend(drawing, [axes])
    yield Sketch(
        drawing,
        "variation",
        "How much times vary",
        "For each algorithm the share of cases whose observations vary by no more than that (standard "
        "deviation by mean); further left is steadier.",
        [axes],
    )


def worst_sample(measured: Measured) -> Iterator[Sketch]:
    """The sample that looks least like independent draws."""
    rows = [row for row in measured.rows if row.observations >= inference.LEAST]
    if not rows:
        return
    row = min(rows, key=lambda each: inference.runs_test(measured.values(each.case, each.name)))
    sample = measured.values(row.case, row.name)
    drawing, axes = style.panels(3)
    flags = inference.is_outlier(sample)
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
    lags = inference.autocorrelation(sample)
    axes[2].bar(np.arange(1, len(lags) + 1), lags, color=COLOURS[0], alpha=0.6)
    for side in (-1, 1):
        axes[2].axhline(side * 1.96 / np.sqrt(len(sample)), color=COLOURS[1], linestyle="--", linewidth=1)
    axes[2].set_xlabel("lag")
    axes[2].set_ylabel("autocorrelation of ranks")
    style.legend(drawing, axes)
    case = row.case
    yield Sketch(
        drawing,
        "sample",
        "The sample with the weakest evidence of independence",
        f"{row.name}, {case.procs} ranks, {bytes_text(case.size)}, arrivals {case.arrivals}: in order, as a "
        "histogram with the normal distribution of the same mean and deviation, and its autocorrelation "
        "(95 % of independent samples stay between the dashed lines).",
        axes,
    )


def executions(measured: Measured) -> Iterator[Sketch]:
    """One repetition with late ranks: who was inside when."""
    late = [case for case in measured.cells if case.arrivals != requests.BALANCED]
    if not late or not measured.tells_every_rank:
        return
    case = max(late, key=lambda each: (each.procs, each.size))
    cell = measured.cells[case]
    valid = np.flatnonzero(metrics.valid_observations(cell))
    if not len(valid):
        return
    reference = metrics.values(cell, measured.metric)[0]
    chosen = int(valid[np.argsort(reference)[len(reference) // 2]])
    contenders = sketches.spread(cell["contenders"], MOST_PANELS)
    height = 0.8 + RANK_HEIGHT * min(case.procs, MOST_LABELLED)
    drawing, axes = style.panels(len(contenders), height=max(2.6, height))
    for contender, each in zip(contenders, axes, strict=True):
        arrivals, exits = (times[chosen] * 1e3 for times in metrics.times(contender))
        for rank, (begin, end) in enumerate(zip(arrivals, exits, strict=True)):
            waits = max(0.0, min(end, arrivals.max()) - begin)
            each.broken_barh([(begin, waits)], (rank - 0.4, 0.8), color="#c9ced6")
            each.broken_barh([(begin + waits, end - begin - waits)], (rank - 0.4, 0.8), color=COLOURS[1])
        each.axvline(arrivals.max(), color=OWN_COLOUR, linewidth=1, linestyle=":")
        each.set_title(contender["name"])
        each.set_xlabel("ms")
        set_ranks(each, range(case.procs), MOST_LABELLED)
        each.set_ylim(case.procs - 0.5, -0.5)
        each.grid(visible=False, axis="y")
    yield Sketch(
        drawing,
        "execution",
        "One call with late ranks",
        f"{case.procs} ranks, {bytes_text(case.size)}, arrivals {case.arrivals}: each rank from arrival to "
        "exit; grey is before the last arrival (dotted line), orange after it.",
        axes,
    )
