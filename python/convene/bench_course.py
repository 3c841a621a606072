# SPDX-License-Identifier: BSD-3-Clause
"""The course of a measurement: from what is asked for to requests, through the runs, to what is shown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from convene import _core, bench, bench_files, bench_metrics, console, report
from convene._core import RequestError
from convene.bench_statistics import Estimate, Row, summarize_all


def parse_patterns(text: str, procs: int) -> tuple[str, ...]:
    """The arrival patterns. The balanced one is always among them, since the others are compared to it."""
    patterns = [_core.arrival_pattern(part, procs) for part in text.split(",")]
    return tuple(dict.fromkeys([bench.BALANCED, *patterns]))


def make_requests(
    collective: str,
    procs: list[int],
    sizes: list[int],
    distributions: list[str],
    algorithms: str,
    against: str,
    arrivals: str,
    **others: Any,
) -> tuple[list[bench.Request], list[str]]:
    """What is to be measured, one request for each start of the program, and the references among it."""
    requests, references = [], []
    for number in procs:
        references = bench.choose_algorithms(collective, number, against)
        chosen = bench.choose_algorithms(collective, number, algorithms)
        contenders = list(dict.fromkeys([*references, *chosen]))
        if not contenders:
            raise RequestError("there is nothing to measure: --algorithms and --against name no algorithm")
        patterns = parse_patterns(arrivals, number)
        requests += [
            bench.Request(
                collective,
                number,
                sizes,
                contenders,
                distribution=distribution,
                arrivals=patterns,
                **others,
            )
            for distribution in distributions
        ]
    if others["root"] >= min(procs):
        raise RequestError(f"there is no rank {others['root']} to be the root among {min(procs)} ranks")
    return requests, references


def measure(
    setting: bench.Setting, requests: list[bench.Request], journal: bench_files.Journal
) -> list[dict[str, Any]]:
    """Measures what is not there yet, with a bar on a terminal; all runs."""
    output = console.make(error=True)
    there = journal.runs()
    left = [replace(each, sizes=bench_files.left_over(each, there)) for each in requests]
    commands = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(
        *columns, TimeRemainingColumn(), console=output, transient=True, disable=not output.is_terminal
    ) as progress:
        total = sum(len(each.sizes) for each in left)
        task = progress.add_task("measuring", total=total)
        before = 0
        for request in left:
            if not request.sizes:
                continue

            def advance(done: float, _: float, before: int = before) -> None:
                progress.update(task, completed=before + done)

            result = bench.measure(setting, request, advance, journal.next_file())
            commands[request.procs, request.distribution] = {
                name: result[name] for name in ("command", "variables")
            }
            before += len(request.sizes)
    runs = journal.runs()
    return [run | commands.get((run["procs"], run["options"]["distribution"]), {}) for run in runs]


def interval_text(low: str, high: str) -> str:
    return f"{low} … {high}"


def ratio_text(ratio: Estimate | None) -> str:
    if ratio is None:
        return ""
    text = f"{ratio.value:.3f} ({interval_text(f'{ratio.low:.3f}', f'{ratio.high:.3f}')})"
    colour = "green" if ratio.high < 1 else "red" if ratio.low > 1 else ""
    return f"[{colour}]{text}[/{colour}]" if colour else text


def case_columns(collective: str, rows: list[Row]) -> dict[str, Any]:
    """What has to be said of a case: its size, and what else is not the same in all of them."""
    columns: dict[str, Any] = {
        "ranks": lambda row: str(row.case.procs),
        "distribution": lambda row: row.case.distribution,
        "arrivals": lambda row: row.case.arrivals,
    }
    columns = {head: text for head, text in columns.items() if len({text(row) for row in rows}) > 1}
    if collective not in bench.WITHOUT_SIZES:
        head = "bytes" if collective in bench.OF_VECTORS else "bytes/block"
        columns[head] = lambda row: _core.format_size(row.size)
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
    table = console.table(title, *heads, numbers=numbers)
    last = None
    for row in rows:
        if last not in (None, row.case):
            table.add_section()
        seconds = row.seconds
        table.add_row(
            *(text(row) if row.case != last else "" for text in columns.values()),
            row.name,
            report.seconds_text(seconds.value),
            interval_text(report.seconds_text(seconds.low), report.seconds_text(seconds.high)),
            *(ratio_text(row.ratios.get(name)) for name in references),
            *([f"{row.absorption:.2f}" if row.absorption is not None else ""] if has_absorption else []),
        )
        last = row.case
    return table


def remarks(runs: list[dict[str, Any]]) -> list[str]:
    """What one should know about the circumstances."""
    said = []
    environment = runs[0]["environment"]
    cores = int(environment["cores"]) * len(environment["hosts"])
    load = float(runs[0]["sizes"][0]["load"][0].split()[0])
    if load > cores / 2:
        said.append(
            f"the machine was not quiet: its load was {load:g} on {cores} cores before the first size; the "
            "intervals tell how much that matters"
        )
    most = max(int(run["procs"]) for run in runs)
    if most > cores:
        said.append(f"{most} ranks shared {cores} cores: the numbers say how algorithms do in such a crowd")
    if runs[0].get("options", {}).get("check") == "never":
        said.append("nobody looked at the results (--check never)")
    invalid = total = 0
    for run in runs:
        for cell in run["sizes"]:
            valid = bench_metrics.valid_observations(cell)
            invalid, total = invalid + int((~valid).sum()), total + len(valid)
    if invalid:
        said.append(
            f"{invalid} of {total} repetitions are left out: a rank heard of the deadline too late; more "
            "time (--window) or --sync barrier helps"
        )
    return said


Finished = tuple[dict[str, Any], list[Row]]


def finish(
    collective: str, references: list[str], runs: list[dict[str, Any]], metric: bench_metrics.Metric
) -> tuple[dict[str, Any], list[Row]]:
    """The whole result, and what it says."""
    result: dict[str, Any] = {
        "format": bench_files.FORMAT,
        "collective": collective,
        "against": references,
        "metric": metric.name,
        "runs": runs,
    }
    rows = summarize_all(result, references, metric)
    return result | {"summary": [row.as_json() for row in rows]}, rows


def measure_or_tell(
    setting: bench.Setting, requests: list[bench.Request], journal: bench_files.Journal, output: Path | None
) -> list[dict[str, Any]]:
    """Measures; where that ends early, says what is kept."""
    try:
        return measure(setting, requests, journal)
    except (bench.RunError, KeyboardInterrupt) as error:
        if isinstance(error, bench.RunError):
            console.complain(str(error))
        left = sum(len(bench_files.left_over(each, journal.runs())) for each in requests)
        there = sum(len(each.sizes) for each in requests) - left
        if output and there:
            console.complain(
                f"{there} of {there + left} sizes are measured and kept in {journal.folder}; the same "
                "command with --resume measures the others"
            )
        elif output:
            journal.remove()
        raise typer.Exit(1 if isinstance(error, bench.RunError) else 130) from None
    except RequestError:
        if not journal.runs():
            journal.remove()
        raise


def show(result: dict[str, Any], rows: list[Row], references: list[str]) -> None:
    numbers = ", ".join(str(number) for number in dict.fromkeys(run["procs"] for run in result["runs"]))
    mpi = result["runs"][0]["environment"]["mpi"].split(",")[0]
    patterns = {row.case.arrivals for row in rows}
    title = f"{result['collective']}, {numbers} ranks, {mpi}"
    if patterns != {bench.BALANCED} or rows[0].metric.name != "max":
        title += f"; {rows[0].metric.summary}"
    console.make().print(make_table(title, result["collective"], rows, references))
    for sentence in remarks(result["runs"]):
        console.complain(sentence)
