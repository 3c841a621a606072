# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the benchmark `decide`: verdicts by cell, and means by MPI, number of ranks and mode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from convene.base.text import bytes_text
from convene.stats.bootstrap import Array

from benchmarks.common import ratios

LIMIT = 1.03
EXTRA = {"mpich4": 80e-9, "mpich5": 80e-9}  # seconds of a call that may be lost
USUAL_EXTRA = 20e-9
MEAN_UP_TO = 1 << 20  # bytes
GOALS = {("mpich5", 2, "wisdom"): 0.55, ("openmpi5", 2, "wisdom"): 0.75, ("impi", 2, "wisdom"): 0.92}
MOST_ROWS = 150  # of the summary
MOST_NAMED = 12  # undecided cells, in the table


@dataclass(frozen=True)
class Observed:
    """A size by a method, with the observations of all starts."""

    stack: str
    procs: int
    mode: str
    collective: str
    starts: Sequence[dict[str, Any]]

    @property
    def name(self) -> str:
        size = bytes_text(self.bytes) if self.bytes else "-"
        return f"{self.stack}, {self.procs} ranks, {self.mode}: {self.collective}, {size}, {self.method}"

    @property
    def bytes(self) -> int:
        return int(self.starts[0]["bytes"])

    @property
    def method(self) -> str:
        return str(self.starts[0]["method"])

    @property
    def group(self) -> tuple[str, int, str]:
        return self.stack, self.procs, self.mode

    def distinct(self, field: str) -> str:
        """A text of all starts; several where they differ."""
        return " / ".join(dict.fromkeys(str(each[field]) for each in self.starts))

    def times(self, table: str) -> Array:
        """Seconds of a call by repetition, of all starts."""
        return np.concatenate([each[table] for each in self.starts])

    def cell(self) -> ratios.Cell:
        native = self.times("native")
        return ratios.Cell(self.name, self.times("program") / native, self.times("control") / native)

    def limit(self) -> float:
        extra = EXTRA.get(self.stack, USUAL_EXTRA)
        return max(LIMIT, 1 + extra / float(np.median(self.times("native"))))


def row(cell: Observed, judged: ratios.Judged) -> dict[str, Any]:
    return {
        "stack": cell.stack,
        "procs": cell.procs,
        "mode": cell.mode,
        "collective": cell.collective,
        "bytes": cell.bytes,
        "method": cell.method,
        "algorithm": cell.distinct("algorithm"),
        "reason": cell.distinct("reason"),
        **judged.ratio.as_json("ratio"),
        "limit": cell.limit(),
        "control": judged.control.value,
        "native_us": float(np.median(cell.times("native"))) * 1e6,
        "line_ns": float(np.median(cell.times("line"))) * 1e9,
        "verdict": judged.verdict,
    }


def group_row(group: tuple[str, int, str], cells: list[tuple[Observed, ratios.Judged]]) -> dict[str, Any]:
    """A stack, a number of ranks and a mode."""
    small = [cell.cell() for cell, _ in cells if cell.bytes <= MEAN_UP_TO]
    controls = [ratios.Cell(each.name, each.control, each.control) for each in small]
    judged = [each for _, each in cells]
    return {
        "stack": group[0],
        "procs": group[1],
        "mode": group[2],
        "cells": len(cells),
        "not_native": sum(cell.distinct("algorithm") != "native" for cell, _ in cells),
        "failing": sum(each.fails for each in judged),
        "undecided": sum(each.is_undecided for each in judged),
        **(ratios.geometric_mean(small).as_json("mean") if small else {"mean": 1.0, "low": 1.0, "high": 1.0}),
        "control_mean": ratios.geometric_mean(controls).value if small else 1.0,
        "detected": float(np.mean([each.detected for each in judged])),
        "goal": GOALS.get(group, 0.0),
    }


def summary(cells: list[Observed], tuned: list[dict[str, Any]]) -> dict[str, Any]:
    """Verdicts of all cells together, since Holm's correction is for their number."""
    judged = ratios.judge([cell.cell() for cell in cells], [cell.limit() for cell in cells])
    pairs = list(zip(cells, judged, strict=True))
    groups = dict.fromkeys(cell.group for cell in cells)
    rows = sorted((row(*pair) for pair in pairs), key=lambda each: -float(each["ratio"] / each["limit"]))
    return {
        "tuned": tuned,
        "number": len(cells),
        "groups": [group_row(group, [pair for pair in pairs if pair[0].group == group]) for group in groups],
        "failing": [each.name for each in judged if each.fails],
        "undecided": [each.name for each in judged if each.is_undecided],
        "detected": float(np.mean([each.detected for each in judged])),
        "rows": rows[:MOST_ROWS],
    }


def verdicts(result: dict[str, Any]) -> list[tuple[str, bool]]:
    """The goals, and whether each is met."""
    number, failing, undecided = result["number"], len(result["failing"]), len(result["undecided"])
    found = [
        (f"cells above the limit: {failing} of {number}", not failing),
        (f"undecided cells: {undecided} of {number}", undecided <= ratios.MOST_UNDECIDED * number),
        (
            f"planted slowdowns of 5 % noticed: {result['detected']:.1%}",
            result["detected"] >= ratios.LEAST_DETECTED,
        ),
    ]
    for each in result["groups"]:
        if each["goal"]:
            text = (
                f"{each['stack']}, {each['procs']} ranks, {each['mode']}: geometric mean {each['mean']:.2f}"
            )
            found.append((f"{text} (goal {each['goal']})", each["mean"] <= each["goal"]))
    return found


def group_table(groups: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| MPI | ranks | decided by | cells | not native | mean | 95 % | control | fail | undecided |",
        "|---|---:|---|---:|---:|---:|---|---:|---:|---:|",
    ]
    return lines + [
        f"| {each['stack']} | {each['procs']} | {each['mode']} | {each['cells']} | {each['not_native']} "
        f"| {each['mean']:.3f} | {each['low']:.3f} … {each['high']:.3f} | {each['control_mean']:.3f} "
        f"| {each['failing']} | {each['undecided']} |"
        for each in groups
    ]


def cell_table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| MPI | ranks | decided by | collective | bytes | method | algorithm | ratio | 95 % "
        "| limit | native |",
        "|---|---:|---|---|---:|---|---|---:|---|---:|---:|",
    ]
    return lines + [
        f"| {each['stack']} | {each['procs']} | {each['mode']} | {each['collective']} "
        f"| {bytes_text(each['bytes']) if each['bytes'] else '-'} | {each['method']} | `{each['algorithm']}` "
        f"| {each['ratio']:.3f} | {each['low']:.3f} … {each['high']:.3f} | {each['limit']:.3f} "
        f"| {each['native_us']:.2f} µs |"
        for each in rows
    ]


def markdown(result: dict[str, Any]) -> str:
    lines = [f"- {text}: {'yes' if met else 'no'}" for text, met in verdicts(result)]
    lines += ["", *group_table(result["groups"]), ""]
    failing = [each for each in result["rows"] if each["verdict"] == "fails"]
    if failing:
        lines += ["Cells that fail:", "", *cell_table(failing), ""]
    if undecided := result["undecided"]:
        more = len(undecided) - MOST_NAMED
        others = [f"{more} more in the summary"] if more > 0 else []
        lines += ["Undecided: " + "; ".join([*undecided[:MOST_NAMED], *others]) + ".", ""]
    return "\n".join(lines)
