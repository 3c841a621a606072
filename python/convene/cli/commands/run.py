# SPDX-License-Identifier: BSD-3-Clause
"""convene run: an unmodified program with Convene in between."""

import time
from pathlib import Path
from typing import Annotated

import typer

from convene._core import RequestError
from convene.base import console
from convene.cli import completion, options
from convene.mpi import launchers
from convene.run import accounts, folders, processes, report
from convene.run.environment import Arrivals, check_rules, check_uses, collect_environment, prepare
from convene.trace import files, lateness, recordings

HELP = """Runs an MPI program, as it is, with Convene's algorithms in between.

Says at the end which algorithms ran, why, and how long they took. The exit status is the program's.

[bold]Examples[/bold]

  convene run --use allgather=sparbit -- mpirun -n 8 ./app

  convene run --use 'allgather=sparbit;send=packed,bcast=binomial' -- mpiexec -n 4 python app.py

  convene run --rules rules.json --report report.html -- mpirun -n 8 ./app

  convene run --record recorded -- mpirun -n 8 ./app      (then: convene trace recorded)

  convene run -- mpirun -n 8 ./app          (the MPI's own algorithms, counted and timed)
"""


def summarize_recording(directory: Path | None, report_wanted: bool) -> lateness.Summary | None:
    """Who was late, where that was recorded. The program has run: a recording that cannot be read is no
    reason to leave out the rest."""
    if directory is None or not report_wanted or not files.files_in(directory):
        return None
    try:
        return lateness.summarize(recordings.read(directory))
    except RequestError as error:
        console.complain(f"the report does not say who was late: {error}")
        return None


def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- PROGRAM...", help="The program, with its launcher and arguments."),
    ],
    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=ALGORITHM,...",
            help="Force these algorithms, such as allgather=sparbit.",
            autocompletion=completion.complete_use,
        ),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Choose by the rules in this JSON file.")
    ] = None,
    report_to: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a report: .html or .json.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="DIRECTORY", help="Record who came when, for convene trace DIRECTORY."),
    ] = None,
    warn_after: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0, max=1e6, help="Say for whom a rank waits that waits longer than this."
        ),
    ] = None,
    stack: Annotated[
        str | None, options.stack_option("Which MPI the program uses, where that cannot be found out.")
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Say at once what the ranks have to say, not only at the end.")
    ] = False,
    reproducible: Annotated[
        bool,
        typer.Option("--reproducible", help="No reduction whose rounding may depend on who comes late."),
    ] = False,
    arrivals: Annotated[
        Arrivals,
        typer.Option(
            help="auto: watch who comes late at calls that repeat, and use an algorithm that makes use of "
            "that where it is faster."
        ),
    ] = Arrivals.NONE,
    progress_thread: Annotated[
        bool,
        typer.Option(
            "--progress-thread",
            help="Let collectives go on in the background, by a thread in each rank. "
            "The MPI is initialised with MPI_THREAD_MULTIPLE then.",
        ),
    ] = False,
    progress_core: Annotated[
        int | None,
        typer.Option(min=0, metavar="CORE", help="Keep that thread on one core. Implies --progress-thread."),
    ] = None,
    json: options.Json = False,
) -> None:
    uses, rules_path = check_uses(use or []), check_rules(rules)
    if report_to:
        report.check_path(report_to)
    if warn_after == 0:
        raise RequestError("--warn-after 0 would say it in every call; give a time above 0, as 0.001")
    place = launchers.common_place(command[0])
    with (
        folders.account_directory(place) as directory,
        folders.recording_directory(record, report_to is not None, place) as recorded,
    ):
        variables = collect_environment(
            uses,
            rules_path,
            log,
            reproducible,
            directory,
            str(recorded) if recorded else "",
            progress_thread,
            progress_core,
            arrivals,
        )
        if warn_after is not None:
            variables["CONVENE_WAIT_WARNING"] = f"{warn_after:.9f}"
        chosen, prepared, environment = prepare(command, stack, variables)
        since = time.monotonic()
        status = processes.execute(prepared, environment)
        seconds = time.monotonic() - since
        late = summarize_recording(recorded, report_to is not None)
        told = accounts.read(Path(directory))
        done = report.Run(command, uses, rules_path, chosen, status, seconds, told, late)
    if json:
        console.print_json(done.as_json())
    else:
        report.print_summary(done)
    if report_to:
        report.write(done, report_to)
    raise typer.Exit(status)


def register(app: typer.Typer) -> None:
    app.command("run", help=HELP, context_settings={"allow_interspersed_args": False})(run)
