# SPDX-License-Identifier: BSD-3-Clause
"""Lateness as tables and sentences."""

import numpy as np
from rich.table import Table

from convene.base import console
from convene.base.text import bytes_text, seconds_text
from convene.trace.lateness import Calls, RankRow, Summary

MOST_KINDS = 20  # of a table on the terminal
MOST_RANKS = 32

KIND_HEADS = (
    "site",
    "where",
    "collective",
    "algorithm",
    "processes",
    "bytes",
    "calls",
    "imbalance",
    "at most",
    "last most often",
    "waiting/rank",
    "gain",
)

KIND_OPTIONAL = ("at most", "gain", "processes", "bytes", "imbalance", "algorithm")

WHERE = ("where",)  # long names of libraries and functions

RANK_HEADS = (
    "rank",
    "calls",
    "arrived last",
    "late, mean",
    "waited",
    "in collectives",
    "others waited for it",
)

RANK_OPTIONAL = ("calls", "in collectives")

CALL_HEADS = (
    "time",
    "call",
    "collective",
    "where",
    "algorithm",
    "bytes",
    "last",
    "imbalance",
    "waiting/rank",
    "gain",
)

CALL_OPTIONAL = ("gain", "bytes", "imbalance", "algorithm")


def signed_seconds(value: float) -> str:
    if np.isnan(value):
        return "-"
    return f"-{seconds_text(-value)}" if value < 0 else seconds_text(value)


def last_text(calls: Calls) -> str:
    rank, share = calls.often_last
    return f"rank {rank} ({share:.0%})" if rank >= 0 else "-"


def kind_cells(number: int, calls: Calls) -> tuple[str, ...]:
    gains = calls.gain[~np.isnan(calls.gain)]
    return (
        str(number),
        calls.kind.place,
        calls.kind.collective if calls.kind.blocking else f"{calls.kind.collective} (started)",
        calls.kind.algorithm,
        str(len(calls.kind.members)),
        bytes_text(float(calls.sizes.mean())),
        str(len(calls)),
        seconds_text(float(np.median(calls.imbalance))),
        seconds_text(float(calls.imbalance.max())),
        last_text(calls),
        seconds_text(float(calls.waiting.sum() / len(calls.kind.members))),
        signed_seconds(float(gains.mean())) if len(gains) else "-",
    )


def rank_cells(row: RankRow) -> tuple[str, ...]:
    return (
        str(row.rank),
        str(row.calls),
        f"{row.last} ({row.last / max(row.calls, 1):.0%})",
        seconds_text(row.lateness / max(row.calls, 1)),
        seconds_text(row.waiting),
        seconds_text(row.inside),
        seconds_text(row.cost),
    )


def call_cells(calls: Calls, index: int, start: float) -> tuple[str, ...]:
    kind = calls.kind
    return (
        f"{calls.arrivals[index].min() - start:.6f}",
        str(calls.number[index]),
        kind.collective if kind.blocking else f"{kind.collective} (started)",
        kind.place,
        kind.algorithm,
        bytes_text(float(calls.sizes[index])),
        f"rank {calls.rank_last[index]}" if calls.imbalance[index] > calls.error else "-",
        seconds_text(float(calls.imbalance[index])),
        seconds_text(float(calls.waiting[index].mean())),
        signed_seconds(float(calls.gain[index])),
    )


def kind_table(summary: Summary) -> Table:
    title = "Call sites, those with the most waiting first"
    table = console.table(title, *KIND_HEADS, numbers=KIND_HEADS[4:], optional=KIND_OPTIONAL, shortens=WHERE)
    for number, calls in enumerate(summary.kinds[:MOST_KINDS], 1):
        table.add_row(*kind_cells(number, calls))
    if len(summary.kinds) > MOST_KINDS:
        table.caption = f"{len(summary.kinds) - MOST_KINDS} more are left out; --json has them all"
    return table


def rank_table(summary: Summary) -> Table:
    table = console.table("Ranks", *RANK_HEADS, numbers=RANK_HEADS, optional=RANK_OPTIONAL)
    costliest = sorted(summary.ranks, key=lambda row: -row.cost)[:MOST_RANKS]
    for row in summary.ranks:
        if row in costliest:
            table.add_row(*rank_cells(row))
    if len(summary.ranks) > MOST_RANKS:
        table.caption = f"the {MOST_RANKS} of {len(summary.ranks)} ranks for which others waited longest"
    return table


def longest_calls(summary: Summary, most: int) -> list[tuple[Calls, int]]:
    """The calls in which most time was spent waiting, in order of time."""
    every = [
        (float(waited), calls, index)
        for calls in summary.kinds
        for index, waited in enumerate(calls.waiting.sum(axis=1))
    ]
    every.sort(key=lambda each: -each[0])
    return sorted(
        ((calls, index) for _, calls, index in every[:most]),
        key=lambda each: float(each[0].arrivals[each[1]].min()),
    )


def call_table(summary: Summary, most: int) -> Table:
    table = console.table(
        f"The {min(most, summary.recording.calls)} calls with the most waiting, in order of time",
        *CALL_HEADS,
        numbers=("time", "call", *CALL_HEADS[5:]),
        optional=CALL_OPTIONAL,
        shortens=WHERE,
    )
    for calls, index in longest_calls(summary, most):
        table.add_row(*call_cells(calls, index, summary.recording.start))
    return table


def sentences(summary: Summary) -> list[str]:
    """Summary of the recording."""
    recording = summary.recording
    if not recording.calls:
        return ["no call was recorded by several ranks", *recording.messages]
    waited = summary.waiting / max(len(summary.ranks), 1)
    said = [
        f"{recording.calls} collective calls of {recording.ranks} ranks in {seconds_text(summary.seconds)}; "
        f"a rank waited {seconds_text(waited)} in the mean for others "
        f"({waited / max(summary.seconds, 1e-12):.1%} of the time)"
    ]
    costliest = max(summary.ranks, key=lambda row: row.cost, default=None)
    if costliest and costliest.cost > 0 and summary.waiting > 0:
        said.append(
            f"rank {costliest.rank} arrived last in {costliest.last} of its {costliest.calls} calls, and "
            f"caused {costliest.cost / summary.waiting:.0%} of all waiting"
        )
    said.append(
        f"times of ranks on different clocks are right within {seconds_text(recording.error)}"
        if recording.error > 0
        else "all ranks read the same clock"
    )
    return [*said, *recording.messages]
