# SPDX-License-Identifier: BSD-3-Clause
"""The table of a simulated sweep."""

from statistics import median

from rich.table import Table

from convene.base import console
from convene.base.result_types import Contender, Simulation
from convene.base.text import bytes_text, seconds_text
from convene.catalogue import collectives


def make_table(title: str, result: Simulation) -> Table:
    has_details = "waiting" in result["sizes"][0]["contenders"][0]
    size_head = "bytes" if result["collective"] in collectives.OF_VECTORS else "bytes/block"
    heads = [size_head, "algorithm", "time", "of the best", "mean"]
    heads += ["lower bound", "waiting", "busiest channel"] if has_details else []
    table = console.table(
        title,
        *heads,
        numbers=(size_head, "time", "of the best", "mean", "lower bound", "waiting"),
        optional=("busiest channel", "mean", "waiting", "lower bound"),
        keys=2,
    )
    for size in result["sizes"]:
        best = min(median(contender["seconds"]) for contender in size["contenders"])
        for i, contender in enumerate(size["contenders"]):
            seconds = median(contender["seconds"])
            ratio = f"{seconds / best:.2f}" if best > 0 else ""
            table.add_row(
                "" if i else bytes_text(size["bytes"]),
                contender["name"],
                seconds_text(seconds),
                f"[green]{ratio}[/green]" if seconds == best else ratio,
                seconds_text(median(contender["mean"])),
                *(detail_cells(contender) if has_details else ()),
            )
        table.add_section()
    return table


def detail_cells(contender: Contender) -> tuple[str, str, str]:
    """The lower bound of the time, waiting and the busiest channel; not available with SMPI."""
    bound = median(contender["lower_bound"]) if "lower_bound" in contender else None
    return (
        "" if bound is None else seconds_text(bound),
        seconds_text(median(contender["waiting"])),
        busiest_text(contender["channels"]),
    )


def busiest_text(channels: dict[str, float]) -> str:
    if not channels:
        return ""
    kind = max(channels, key=lambda name: channels[name])
    return f"{kind} {100 * channels[kind]:.0f} %"
