# SPDX-License-Identifier: BSD-3-Clause
"""Measurement results as tables on the terminal."""

from collections.abc import Callable

from rich.table import Table

from convene.base import console
from convene.base.result_types import MeasuredRun, Measurement
from convene.base.text import bytes_text, seconds_text
from convene.bench import metrics, requests
from convene.bench.summary import Row
from convene.catalogue import collectives
from convene.stats.bootstrap import Estimate


def interval_text(low: str, high: str) -> str:
    return f"{low} … {high}"


def ratio_text(ratio: Estimate | None) -> str:
    if ratio is None:
        return ""
    text = f"{ratio.value:.3f} ({interval_text(f'{ratio.low:.3f}', f'{ratio.high:.3f}')})"
    colour = "green" if ratio.high < 1 else "red" if ratio.low > 1 else ""
    return f"[{colour}]{text}[/{colour}]" if colour else text


Columns = dict[str, Callable[[Row], str]]  # head: text of a row


def case_columns(collective: str, rows: list[Row]) -> Columns:
    """Labels of a case: its size, and everything else that differs between cases."""
    columns: Columns = {
        "ranks": lambda row: str(row.case.procs),
        "distribution": lambda row: row.case.distribution,
        "arrivals": lambda row: row.case.arrivals,
    }
    columns = {head: text for head, text in columns.items() if len({text(row) for row in rows}) > 1}
    if collective not in collectives.WITHOUT_SIZES:
        head = "bytes" if collective in collectives.OF_VECTORS else "bytes/block"
        columns[head] = lambda row: bytes_text(row.size)
    return columns


def make_table(title: str, collective: str, rows: list[Row], references: list[str]) -> Table:
    columns = case_columns(collective, rows)
    has_absorption = any(row.absorption is not None for row in rows)
    heads = [
        *columns,
        "algorithm",
        rows[0].metric.by,
        "95 % interval",
        *(f"of {name}" for name in references),
        *(["absorption"] if has_absorption else []),
    ]
    numbers = ("ranks", "bytes", "bytes/block", rows[0].metric.by, "absorption")
    keys = len(columns) + 1
    table = console.table(title, *heads, numbers=numbers, optional=("95 % interval", "absorption"), keys=keys)
    last = None
    for row in rows:
        if last not in (None, row.case):
            table.add_section()
        seconds = row.seconds
        table.add_row(
            *(text(row) if row.case != last else "" for text in columns.values()),
            row.name,
            seconds_text(seconds.value),
            interval_text(seconds_text(seconds.low), seconds_text(seconds.high)),
            *(ratio_text(row.ratios.get(name)) for name in references),
            *([f"{row.absorption:.2f}" if row.absorption is not None else ""] if has_absorption else []),
        )
        last = row.case
    return table


def remarks(runs: list[MeasuredRun]) -> list[str]:
    """What one should know about the circumstances."""
    said = []
    environment = runs[0]["environment"]
    cores = int(environment["cores"]) * len(environment["hosts"])
    load = float(runs[0]["sizes"][0]["load"][0].split()[0])
    if load > cores / 2:
        said.append(
            f"the machine was busy: a load of {load:g} on {cores} cores before the first size; the intervals "
            "include the effect"
        )
    most = max(int(run["procs"]) for run in runs)
    if most > cores:
        said.append(f"{most} ranks shared {cores} cores: the times are those of an oversubscribed machine")
    if runs[0].get("options", {}).get("check") == "never":
        said.append("results were not checked (--check never)")
    invalid = total = 0
    for run in runs:
        for cell in run["sizes"]:
            valid = metrics.valid_observations(cell)
            invalid, total = invalid + int((~valid).sum()), total + len(valid)
    if invalid:
        said.append(
            f"{invalid} of {total} repetitions are left out because a rank received the deadline too late; "
            "increase --window, or use --sync barrier"
        )
    return said


def show(result: Measurement, rows: list[Row], references: list[str]) -> None:
    numbers = ", ".join(str(number) for number in dict.fromkeys(run["procs"] for run in result["runs"]))
    mpi = result["runs"][0]["environment"]["mpi"].split(",")[0]
    patterns = {row.case.arrivals for row in rows}
    title = f"{result['collective']}, {numbers} ranks, {mpi}"
    if patterns != {requests.BALANCED} or rows[0].metric.name != "max":
        title += f"; {rows[0].metric.summary}"
    console.make().print(make_table(title, result["collective"], rows, references))
    for sentence in remarks(result["runs"]):
        console.complain(sentence)
