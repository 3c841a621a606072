# SPDX-License-Identifier: BSD-3-Clause
"""convene run: an unmodified program with Convene's algorithms.

What takes long to load (NumPy, Matplotlib) is imported only for reports.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convene._core import RequestError
from convene.base import console
from convene.cli import completion, options
from convene.cli.groups import grouped
from convene.mpi import launchers
from convene.run import accounts, folders, processes, report
from convene.run.environment import Arrivals, Settings, check_rules, check_uses, check_wisdom, prepare
from convene.run.report import Run
from convene.trace import files

if TYPE_CHECKING:
    from convene.trace.lateness import Summary

HELP = """Runs an unmodified MPI program with Convene's algorithms.

At the end it prints which algorithms ran, why, and how long they took. The exit status is the program's.

[bold]Examples[/bold]

  convene run --use allgather=sparbit -- mpirun -n 8 ./app

  convene run --use 'allgather=sparbit;send=packed,bcast=binomial' -- mpiexec -n 4 python app.py

  convene run --rules rules.json --report report.html -- mpirun -n 8 ./app

  convene run --record recorded -- mpirun -n 8 ./app      (then: convene trace recorded)

  convene run -- mpirun -n 8 ./app          (native algorithms, counted and timed)
"""


@dataclass(frozen=True)
class Choice:
    """Choice of algorithms: forced, by rules, by arrivals."""

    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=ALGORITHM,...",
            help="Force these algorithms, such as allgather=sparbit.",
            autocompletion=completion.complete_use,
        ),
    ] = None
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Choose by the rules in this JSON file.")
    ] = None
    wisdom: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|none",
            help="Choose what neither --use nor --rules decide by this wisdom file, or by none. Default: the "
            "user's and the site's (see convene wisdom).",
        ),
    ] = None
    learn: Annotated[
        bool,
        typer.Option(
            "--learn",
            help="Try other algorithms in blocking calls that repeat, within 0.5 % of the time; keep what is "
            "measured to be faster.",
        ),
    ] = False
    arrivals: Annotated[
        Arrivals,
        typer.Option(
            help="auto: observe arrivals at calls that repeat, and use an arrival-aware algorithm where "
            "it is faster."
        ),
    ] = Arrivals.NONE
    reproducible: Annotated[
        bool,
        typer.Option("--reproducible", help="Exclude reductions whose rounding may depend on arrivals."),
    ] = False


@dataclass(frozen=True)
class Progress:
    """Progress: in the background."""

    progress_thread: Annotated[
        bool,
        typer.Option(
            "--progress-thread",
            help="Progress collectives in the background, by a thread in each rank. "
            "The MPI is initialised with MPI_THREAD_MULTIPLE then.",
        ),
    ] = False
    progress_core: Annotated[
        int | None,
        typer.Option(min=0, metavar="CORE", help="Bind that thread to one core. Implies --progress-thread."),
    ] = None


@dataclass(frozen=True)
class Reports:
    """Reports: what is recorded, written and logged."""

    report_to: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a report: .html or .json.")
    ] = None
    record: Annotated[
        Path | None,
        typer.Option(metavar="DIRECTORY", help="Record arrivals and exits, for convene trace DIRECTORY."),
    ] = None
    warn_after: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=1e6,
            help="Warn when a rank waits longer than SECONDS; name the ranks it waits for.",
        ),
    ] = None
    log: Annotated[
        bool, typer.Option("--log", help="Print the messages of the ranks at once, not only at the end.")
    ] = False

    def check(self) -> None:
        if self.report_to:
            report.check_path(self.report_to)
        if self.warn_after == 0:
            raise RequestError("--warn-after 0 would warn in every call; give a time above 0, as 0.001")


@grouped
def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- PROGRAM...", help="The program, with its launcher and arguments."),
    ],
    choice: Choice,
    progress: Progress,
    reports: Reports,
    stack: Annotated[
        str | None, options.stack_option("MPI of the program, where it cannot be found out.")
    ] = None,
    json: options.Json = False,
) -> None:
    settings = Settings(
        check_uses(choice.use or []),
        check_rules(choice.rules),
        reports.log,
        choice.reproducible,
        choice.arrivals,
        progress.progress_thread,
        progress.progress_core,
        reports.warn_after,
        wisdom=check_wisdom(choice.wisdom),
        learn=choice.learn,
    )
    reports.check()
    done = run_program(command, stack, settings, reports)
    if json:
        console.print_json(done.as_json())
    else:
        report.print_summary(done)
    if reports.report_to:
        write_report(done, reports.report_to)
    raise typer.Exit(done.status)


def run_program(command: list[str], stack: str | None, settings: Settings, reports: Reports) -> Run:
    """Runs the program, and reads what its ranks have written."""
    place = launchers.common_place(command[0])
    is_reported = reports.report_to is not None
    with (
        folders.account_directory(place) as directory,
        folders.recording_directory(reports.record, is_reported, place) as recorded,
    ):
        settings = replace(settings, account_directory=directory, recording=str(recorded) if recorded else "")
        prepared = prepare(command, stack, settings.variables())
        since = time.monotonic()
        status = processes.execute(
            prepared.command, prepared.environment, resolve=settings.warn_after is not None
        )
        seconds = time.monotonic() - since
        late = summarize_recording(recorded, is_reported)
        found = accounts.read(Path(directory))
    return Run(command, settings.uses, settings.rules, prepared.stack, status, seconds, found, late)


def summarize_recording(directory: Path | None, report_wanted: bool) -> "Summary | None":
    """Lateness, where it was recorded. The program has run: a recording that cannot be read is no reason to
    leave out the rest."""
    if directory is None or not report_wanted or not files.files_in(directory):
        return None
    from convene.trace import lateness, recordings  # imports NumPy

    try:
        return lateness.summarize(recordings.read(directory))
    except RequestError as error:
        console.complain(f"the report does not say who was late: {error}")
        return None


def write_report(done: Run, path: Path) -> None:
    if path.suffix == ".json":
        console.write_file(path, console.json_text(done.as_json()) + "\n")
        return
    from convene.run import pages  # imports Jinja, and Matplotlib for lateness

    console.write_file(path, pages.page(done))


def register(app: typer.Typer) -> None:
    app.command("run", help=HELP, context_settings={"allow_interspersed_args": False})(run)
