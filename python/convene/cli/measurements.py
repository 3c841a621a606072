# SPDX-License-Identifier: BSD-3-Clause
"""Measurements on the command line: shared options, and runs with a progress bar."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from convene._core import RequestError
from convene.base import console, parsing, progress
from convene.base.result_types import MeasuredRun
from convene.bench import files, journal, program
from convene.bench.journal import Journal
from convene.bench.requests import CACHES, CHECKS, OPERATIONS, SYNCS, TYPES, Request
from convene.bench.sessions import Finished
from convene.catalogue import collectives
from convene.cli.options import check_output, check_word, choices, complete
from convene.mpi.processes import RunError
from convene.mpi.settings import Setting

MOST_PROCS = 1 << 16
ORDERS = ("shuffled", "fixed")
DAY = 86_400  # seconds
MINUTE = 60e6  # microseconds


@dataclass(frozen=True)
class Sampling:
    """Observations: number, duration and order."""

    repetitions: Annotated[
        int, typer.Option(min=2, help="Maximum number of observations of each algorithm at each size.")
    ] = 50
    seconds: Annotated[
        float,
        typer.Option(
            min=0, max=DAY, help="Stop a size after this time, but not before 10 observations; 0: no limit."
        ),
    ] = 0.0
    precision: Annotated[
        float,
        typer.Option(
            min=0,
            max=100,
            help="Stop a size when the confidence interval of every median is within this many per cent on "
            "each side; 0: no limit.",
        ),
    ] = 0.0
    batch: Annotated[
        float, typer.Option(min=1, max=MINUTE, help="Duration of one observation, in microseconds.")
    ] = 200.0
    order: Annotated[
        str,
        typer.Option(
            metavar=choices(ORDERS),
            help="Order of the algorithms in a repetition.",
            autocompletion=complete(ORDERS),
        ),
    ] = "shuffled"
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random order and of random arrivals.")] = 1


@dataclass(frozen=True)
class Conditions:
    """Conditions: synchronisation, caches, checks of results."""

    sync: Annotated[
        str,
        typer.Option(
            metavar=choices(SYNCS),
            help="Synchronise ranks with two barriers, or with a deadline on synchronised clocks.",
            autocompletion=complete(SYNCS),
        ),
    ] = "barrier"
    window: Annotated[
        float,
        typer.Option(
            min=1, max=MINUTE, help="Microseconds to the first deadline; increased when ranks miss it."
        ),
    ] = 200.0
    cache: Annotated[
        str,
        typer.Option(
            metavar=choices(CACHES),
            help="hot: all calls use the same buffers. rotating: three pairs in turn, where a block does not "
            "fit the L2 cache. cold: fill caches with other data before each call.",
            autocompletion=complete(CACHES),
        ),
    ] = "hot"
    check: Annotated[
        str,
        typer.Option(
            metavar=choices(CHECKS),
            help="Check results after every observation, once per size, or never.",
            autocompletion=complete(CHECKS),
        ),
    ] = "every"


@dataclass(frozen=True)
class Files:
    """Files: output and resumption."""

    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE.json", help="Write all observations and the summary to this file."
        ),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume an interrupted measurement into the same file.")
    ] = False

    def check(self) -> None:
        check_output("-o", self.output, ".json")
        if self.resume and not self.output:
            raise RequestError("--resume needs -o with the output file of the interrupted measurement")


def choose_type(collective: str, given: str | None) -> str:
    """The type of the items. Default: byte; for reductions double, because bytes cannot be combined."""
    if given is None:
        return "double" if collective in collectives.REDUCTIONS else "byte"
    if check_word("--type", given, TYPES) == "byte" and collective in collectives.REDUCTIONS:
        raise RequestError(f"{collective} cannot combine bytes; give --type int, long, float or double")
    return given


def make_template(
    sampling: Sampling, conditions: Conditions, collective: str = "", operation: str = "sum", root: int = 0
) -> Request:
    """A request without its scope: ranks, sizes, contenders, type."""
    return Request(
        collective,
        procs=0,
        sizes=[],
        contenders=[],
        repetitions=sampling.repetitions,
        seconds=sampling.seconds,
        precision=sampling.precision / 100,
        batch=sampling.batch * 1e-6,
        order=check_word("--order", sampling.order, ORDERS),
        check=check_word("--check", conditions.check, CHECKS),
        seed=sampling.seed,
        op=check_word("--op", operation, OPERATIONS),
        root=root,
        sync=check_word("--sync", conditions.sync, SYNCS),
        window=conditions.window * 1e-6,
        cache=check_word("--cache", conditions.cache, CACHES),
    )


def check_procs(text: str) -> list[int]:
    return parsing.parse_numbers(text, "-n", 1, MOST_PROCS)


def measure(
    setting: Setting,
    requests: list[Request],
    output: Path | None,
    finish: Callable[[list[MeasuredRun]], Finished],
    *,
    resume: bool,
) -> Finished:
    """Measures the sizes that are missing in the journal, and writes the result."""
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        place = files.journal_of(output) if output else Path(folder) / "part"
        asked = {"launcher": str(setting.launcher.path), "requests": [asdict(each) for each in requests]}
        kept = Journal(place, asked, resume=resume)
        finished = finish(measure_or_explain(setting, requests, kept, output))
        if output:
            files.write(output, finished[0])
            kept.remove()
    return finished


def measure_or_explain(
    setting: Setting, requests: list[Request], kept: Journal, output: Path | None
) -> list[MeasuredRun]:
    """Measures. If the measurement ends early, reports the sizes that are kept."""
    try:
        return measure_with_bar(setting, requests, kept)
    except (RunError, KeyboardInterrupt, SystemExit) as error:
        if isinstance(error, RunError):
            console.complain(str(error))
        left = sum(len(journal.left_over(each, kept.runs())) for each in requests)
        there = sum(len(each.sizes) for each in requests) - left
        if output and there:
            console.complain(
                f"{there} of {there + left} sizes are measured and kept in {kept.folder}; run the same "
                "command with --resume to measure the others"
            )
        elif output:
            kept.remove()
        if isinstance(error, SystemExit):  # SIGTERM
            raise
        raise typer.Exit(1 if isinstance(error, RunError) else 130) from None
    except RequestError:
        if not kept.runs():
            kept.remove()
        raise


def measure_with_bar(setting: Setting, requests: list[Request], kept: Journal) -> list[MeasuredRun]:
    """Measures what is missing, and shows progress; returns all runs."""
    there = kept.runs()
    left = [replace(each, sizes=journal.left_over(each, there)) for each in requests]
    total = sum(len(each.sizes) for each in left)
    started = {}
    with progress.shown("measuring", "sizes") as show:
        before = 0
        for request in left:
            if not request.sizes:
                continue

            def advance(done: float, _: float, before: int = before) -> None:
                show(before + done, total)

            show(before, total)
            key = request.procs, request.distribution
            started[key] = program.measure(setting, request, advance, kept.next_file())
            before += len(request.sizes)
    runs = kept.runs()
    for run in runs:
        if start := started.get((run["procs"], run["options"]["distribution"])):
            run["command"], run["variables"] = start["command"], start["variables"]
    return runs
