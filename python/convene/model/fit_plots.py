# SPDX-License-Identifier: BSD-3-Clause
"""Plots of fits: observations, and the times of each model."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from convene import _core
from convene.model import curves, measured_series
from convene.model.measured_series import Observations, Sample
from convene.model.platform_types import MeasuredPlatform

MICRO = 1e6


def pyplot() -> Any:
    """Matplotlib without a screen; a slow import, for pictures only."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    return plt


def draw(observations: Observations, platform: MeasuredPlatform, folder: Path) -> list[Path]:
    """Writes the pictures; returns their names."""
    from convene.plots.compact_svg import save  # imports Matplotlib

    plt = pyplot()
    sample = measured_series.whole(observations)
    written = []
    for channel in observations.channels():
        for what, paint in (
            ("messages", messages),
            ("transfers", transfers),
            ("bursts", bursts),
            ("overheads", overheads),
        ):
            figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
            paint(axes, sample, platform, channel)
            axes.legend(fontsize=8)
            axes.grid(alpha=0.3)
            written.append(folder / f"{channel}-{what}.svg")
            save(figure, written[-1])
            plt.close(figure)
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    local_work(axes, sample)
    written.append(folder / "local-work.svg")
    save(figure, written[-1])
    plt.close(figure)
    return written


def scales(axes: Any, title: str) -> None:
    from convene.plots.axes import label_sizes  # imports Matplotlib

    axes.set_title(title)
    axes.set_xscale("symlog", base=2, linthresh=1)
    label_sizes(axes.xaxis)
    axes.set_yscale("log")
    axes.set_xlabel("bytes")
    axes.set_ylabel("µs")


def shown(axes: Any, one: measured_series.Series, factor: float, label: str) -> None:
    """Medians, with the middle half of the observations."""
    low, middle, high = np.percentile(one.seconds * factor * MICRO, [25, 50, 75], axis=1)
    axes.errorbar(one.bytes, middle, [middle - low, high - middle], fmt="o", markersize=3, lw=1, label=label)


def series(sample: Sample, operation: str, channel: str) -> list[measured_series.Series]:
    return [one for one, _ in sample.find(operation, channel)]


def messages(axes: Any, sample: Sample, platform: MeasuredPlatform, channel: str) -> None:
    """Half a round trip, and one message under every model: the broadcast from one rank to another."""
    scales(axes, f"{channel}: measured and modelled time of one message")
    shown(axes, series(sample, "round_trip", channel)[0], 0.5, "half a round trip")
    largest = int(series(sample, "round_trip", channel)[0].bytes[-1])
    sizes = sorted({0, *(int(size) for size in np.geomspace(1, largest, 200))})
    parsed = _core.ModelPlatform(json.dumps(platform), "platform")
    near = channel == "memory"
    machine, placement = ("node:1 core:2", "sequential") if near else ("node:2 core:1", "sequential")
    request = _core.ScheduleRequest(
        collective="bcast", spec="binomial", procs=2, machine=machine, placement=placement
    )
    for model in parsed.facts()["models"]:
        seconds = _core.predict(request, parsed, model, sizes)
        axes.plot(sizes, np.array(seconds) * MICRO, lw=1, label=model)
    protocols = platform["measured"]["protocols"][channel]
    if protocols["sender_waits_from"]:
        axes.axvline(
            protocols["sender_waits_from"], color="grey", lw=0.8, ls="--", label="a sender waits from here"
        )
    for kink in protocols["kinks"]:
        axes.axvspan(*kink["between"], color="orange", alpha=0.3)


def transfers(axes: Any, sample: Sample, platform: MeasuredPlatform, channel: str) -> None:
    scales(axes, f"{channel}: L(m, τ)")
    found = next(one for one in platform["model"]["channels"] if one["name"] == channel)
    for name, line in (("L", "o-"), ("L_sr", "x--"), ("L_c", "+:")):
        for tau, points in found["taulop"].get(name, {}).items():
            sizes, times = np.array(points).T
            label = f"τ = {tau}" if name == "L" else f"{name}, τ = {tau}"
            axes.plot(sizes, np.maximum(times, 1e-3), line, markersize=3, lw=1, label=label)


def bursts(axes: Any, sample: Sample, platform: MeasuredPlatform, channel: str) -> None:
    scales(axes, f"{channel}: additional time of a further message in a burst")
    found = next(one for one in platform["model"]["channels"] if one["name"] == channel)
    steps = curves.gap(sample, channel)
    axes.plot(
        steps.bytes, steps.times * MICRO, "o", markersize=3, label="(PRTT(n, 0, s) - PRTT(1, 0, s))/(n - 1)"
    )
    loggp, (sizes, gaps) = found["loggp"], np.array(found["plogp"]["g"]).T
    axes.plot(steps.bytes, loggp["g"] + (steps.bytes - 1) * loggp["G"], lw=1, label="LogGP: g + (s - 1)G")
    axes.plot(sizes, gaps, lw=1, label="PLogP: g(m)")


def overheads(axes: Any, sample: Sample, platform: MeasuredPlatform, channel: str) -> None:
    scales(axes, f"{channel}: a send, and a receive of a message that has arrived")
    shown(axes, series(sample, "send", channel)[0], 1, "send")
    shown(axes, series(sample, "receive", channel)[0], 1, "receive")
    found = next(one for one in platform["model"]["channels"] if one["name"] == channel)["plogp"]
    for name in ("o_s", "o_r"):
        sizes, times = np.array(found[name]).T
        axes.plot(sizes, times, lw=1, label=f"PLogP: {name}(m)")


def local_work(axes: Any, sample: Sample) -> None:
    scales(axes, "copies, packing and reductions within ranks")
    for operation in ("copy", "packing", "combine"):
        for one in series(sample, operation, "local"):
            shown(axes, one, 1, f"{operation}, τ = {one.tau}")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
