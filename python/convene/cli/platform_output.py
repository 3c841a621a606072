# SPDX-License-Identifier: BSD-3-Clause
"""Measured platforms on the terminal: the run with a progress bar, tables, remarks."""

from rich.progress import Progress
from rich.table import Table

from convene.base import console
from convene.base.text import bytes_text
from convene.model import measurement
from convene.model.platform_types import Interval, MeasuredPlatform, Observed
from convene.mpi.settings import Setting


def measure(setting: Setting, request: measurement.Request) -> Observed:
    """Measures, with a bar on a terminal."""
    output = console.make(error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        task = progress.add_task("looking for sizes", total=request.effort.rounds)

        def show(done: float, total: float) -> None:
            progress.update(task, completed=done, total=total, description="measuring")

        return measurement.run(setting, request, show)


def interval_text(interval: Interval) -> str:
    return f"{interval['low']:.4g} … {interval['high']:.4g}"


def rows(platform: MeasuredPlatform) -> list[tuple[str, str, str, str, str]]:
    """Channel, model, parameter, value, interval: of the parameters that are one number."""
    intervals = platform["measured"]["intervals"]
    found = []
    for channel in platform["model"]["channels"]:
        for model in ("hockney", "loggp", "logfp", "plogp", "taulop"):
            for name, value in channel[model].items():
                path = f"channels.{channel['name']}.{model}.{name}"
                if isinstance(value, int | float) and path in intervals:
                    found.append(
                        (channel["name"], model, name, f"{value:.4g}", interval_text(intervals[path]))
                    )
    return found


def make_table(platform: MeasuredPlatform) -> Table:
    table = console.table(
        f"{platform['name']}: {platform['description']}",
        *("channel", "model", "parameter", "value", "95 % interval"),
        numbers=("value",),
    )
    last = ""
    for channel, model, *others in rows(platform):
        table.add_row(
            channel if last != channel + model else "", model if last != channel + model else "", *others
        )
        last = channel + model
    return table


def print_platform(platform: MeasuredPlatform) -> None:
    output = console.make()
    output.print(make_table(platform))
    output.print("Times in µs (per byte: G, beta); f counts messages, S bytes.", style="dim")
    for channel, found in platform["measured"]["protocols"].items():
        if found["sender_waits_from"] is not None:
            output.print(
                f"{channel}: a sender waits for its receiver from {bytes_text(found['sender_waits_from'])} on"
            )
        for kink in found["kinks"]:
            low, high = (bytes_text(size) for size in kink["between"])
            before, after = kink["times"]
            what = f"{channel}: between {low} and {high} a {kink['operation']}"
            output.print(f"{what} jumps from {before:.3g} to {after:.3g} µs")


def remarks(raw: Observed, request: measurement.Request) -> list[str]:
    found = []
    cores = int(raw["environment"]["cores"]) * len(raw["environment"]["hosts"])
    if int(raw["procs"]) > cores:
        found.append(
            f"{raw['procs']} ranks shared {cores} cores: the parameters are those of an "
            "oversubscribed machine"
        )
    if request.fits_collectives and len(set(raw["nodes"])) > 1:
        found.append("--fit-to had no effect: it applies to ranks of one node only")
    return found
