# SPDX-License-Identifier: BSD-3-Clause
"""Measurement runs: requests, the runs themselves, and the finished result."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from convene import _core
from convene._core import RequestError
from convene.base import console
from convene.bench import files, metrics, program
from convene.bench.journal import Journal, left_over
from convene.bench.requests import BALANCED, Request
from convene.bench.summary import Row, summarize_all
from convene.catalogue import selection
from convene.mpi import processes, settings


def parse_patterns(text: str, procs: int) -> tuple[str, ...]:
    """The arrival patterns. The balanced one is always among them, since the others are compared to it."""
    patterns = [_core.arrival_pattern(part, procs) for part in text.split(",")]
    return tuple(dict.fromkeys([BALANCED, *patterns]))


def make_requests(
    collective: str,
    procs: list[int],
    sizes: list[int],
    distributions: list[str],
    algorithms: str,
    against: str,
    arrivals: str,
    **others: Any,
) -> tuple[list[Request], list[str]]:
    """What is to be measured, one request for each start of the program, and the references among it."""
    requests, references = [], []
    for number in procs:
        references = selection.choose_algorithms(collective, number, against)
        chosen = selection.choose_algorithms(collective, number, algorithms)
        contenders = list(dict.fromkeys([*references, *chosen]))
        if not contenders:
            raise RequestError("there is nothing to measure: --algorithms and --against name no algorithm")
        patterns = parse_patterns(arrivals, number)
        requests += [
            Request(
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


def measure(setting: settings.Setting, requests: list[Request], journal: Journal) -> list[dict[str, Any]]:
    """Measures what is not there yet, with a bar on a terminal; all runs."""
    output = console.make(error=True)
    there = journal.runs()
    left = [replace(each, sizes=left_over(each, there)) for each in requests]
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

            result = program.measure(setting, request, advance, journal.next_file())
            commands[request.procs, request.distribution] = {
                name: result[name] for name in ("command", "variables")
            }
            before += len(request.sizes)
    runs = journal.runs()
    return [run | commands.get((run["procs"], run["options"]["distribution"]), {}) for run in runs]


Finished = tuple[dict[str, Any], list[Row]]


def finish(
    collective: str, references: list[str], runs: list[dict[str, Any]], metric: metrics.Metric
) -> tuple[dict[str, Any], list[Row]]:
    """The whole result, and what it says."""
    result: dict[str, Any] = {
        "format": files.FORMAT,
        "collective": collective,
        "against": references,
        "metric": metric.name,
        "runs": runs,
    }
    rows = summarize_all(result, references, metric)
    return result | {"summary": [row.as_json() for row in rows]}, rows


def measure_or_tell(
    setting: settings.Setting, requests: list[Request], journal: Journal, output: Path | None
) -> list[dict[str, Any]]:
    """Measures; where that ends early, says what is kept."""
    try:
        return measure(setting, requests, journal)
    except (processes.RunError, KeyboardInterrupt) as error:
        if isinstance(error, processes.RunError):
            console.complain(str(error))
        left = sum(len(left_over(each, journal.runs())) for each in requests)
        there = sum(len(each.sizes) for each in requests) - left
        if output and there:
            console.complain(
                f"{there} of {there + left} sizes are measured and kept in {journal.folder}; the same "
                "command with --resume measures the others"
            )
        elif output:
            journal.remove()
        raise typer.Exit(1 if isinstance(error, processes.RunError) else 130) from None
    except RequestError:
        if not journal.runs():
            journal.remove()
        raise
