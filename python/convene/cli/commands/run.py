# SPDX-License-Identifier: BSD-3-Clause
"""convene run: runs an unmodified program with Convene's algorithms.

Slow imports (NumPy, Matplotlib) happen only for reports.
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
from convene.run import folders, left, processes, profiles, report, returns
from convene.run.environment import (
    Arrivals,
    Learning,
    Settings,
    check_rules,
    check_transport,
    check_uses,
    check_wisdom,
    prepare,
)
from convene.run.report import Run

if TYPE_CHECKING:
    from convene.trace.lateness import Summary

HELP = """Runs an unmodified MPI program with Convene's algorithms.

At the end, a table shows which algorithms ran, why, and how long they took. The exit status is the \
program's. Algorithms are native (those of the MPI library), forced (--use), selected by rules or by wisdom, \
or learned: in calls that repeat, others are tried within 0.5 % of the time, and what is faster is kept.

[bold]Examples[/bold]

  convene run --use allgather=sparbit -- mpirun -n 8 ./app

  convene run --use 'allgather=sparbit;send=packed,bcast=binomial' -- mpiexec -n 4 python app.py

  convene run --rules rules.json --report report.html -- mpirun -n 8 ./app

  convene run --record recorded -- mpirun -n 8 ./app      (then: convene trace recorded)

  convene run -- mpirun -n 8 ./app          (wisdom, learning, native algorithms, with a table)
"""


@dataclass(frozen=True)
class Choice:
    """Selection of algorithms: forced, by rules, by arrivals."""

    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=\nALGORITHM,...",
            help="Force algorithms, as in bcast=chain. Separate several by commas.",
            autocompletion=completion.complete_use,
        ),
    ] = None
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Select algorithms by the rules in this JSON file.")
    ] = None
    wisdom: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|none",
            help="Select the other algorithms by this wisdom file, or by none. Default: the files of the "
            "user and of the site (see convene wisdom).",
        ),
    ] = None
    learn: Annotated[
        bool | None,
        typer.Option(
            "--learn/--no-learn",
            help="Try other algorithms in blocking calls that repeat, within 0.5 % of the time; keep what is "
            "measured to be faster, here and in the wisdom file. Default: CONVENE_LEARN, else --learn.",
            show_default=False,
        ),
    ] = None
    learn_reductions: Annotated[
        bool,
        typer.Option(
            "--learn-reductions",
            help="Learn in reductions whose rounding depends on the algorithm, too: of floating-point "
            "numbers, and by operators of the program.",
        ),
    ] = False
    observe: Annotated[
        bool,
        typer.Option(
            "--observe",
            help="Measure as --learn does and report what it would choose, but keep the choices as they are.",
        ),
    ] = False
    arrivals: Annotated[
        Arrivals,
        typer.Option(
            help="auto: measure arrivals in repeated calls, try arrival-aware algorithms, and keep them if "
            "they are faster."
        ),
    ] = Arrivals.NONE
    reproducible: Annotated[
        bool,
        typer.Option(
            "--reproducible", help="Exclude reduction algorithms whose rounding may depend on arrivals."
        ),
    ] = False

    def learning(self) -> Learning:
        """What the options request, else the environment; by default, learning. Throws if options contradict
        each other."""
        if self.learn_reductions:
            others = {"--no-learn": self.learn is False, "--observe": self.observe}
            for other, is_given in {**others, "--reproducible": self.reproducible}.items():
                if is_given:
                    raise RequestError(f"--learn-reductions and {other} exclude each other; give one of them")
            return Learning.REDUCTIONS
        if not self.observe:
            by_default = Learning.FROM_ENVIRONMENT if Learning.FROM_ENVIRONMENT.is_set() else Learning.YES
            return {None: by_default, True: Learning.YES, False: Learning.NO}[self.learn]
        if self.learn is None:
            return Learning.OBSERVE
        given = "--learn" if self.learn else "--no-learn"
        raise RequestError(f"--observe and {given} exclude each other; give one of them")

    def may_begin_wisdom(self) -> bool:
        """Whether learning was asked for, so that the wisdom file may not exist yet."""
        is_on = self.observe or self.learn_reductions or Learning.FROM_ENVIRONMENT.is_on()
        return is_on if self.learn is None else self.learn


@dataclass(frozen=True)
class Progress:
    """Transport of messages, and background progress."""

    transport: Annotated[
        str | None,
        typer.Option(
            metavar="mpi|fabric|\nfabric:PROVIDER\n[:PROTOCOL]",
            help="Send messages of Convene's algorithms by the MPI (default) or by libfabric, with the "
            "provider of this name, as tagged messages (tagged), puts with notification (notified), or "
            "puts for long messages only (hybrid[:SIZE]). Wisdom is not used with a fabric.",
            show_default=False,
        ),
    ] = None
    progress_thread: Annotated[
        bool,
        typer.Option(
            "--progress-thread",
            help="Progress pending collectives in a thread of each rank while the program computes. "
            "Initialises MPI with MPI_THREAD_MULTIPLE.",
        ),
    ] = False
    progress_core: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="CORE", help="Bind the progress thread to this core. Implies --progress-thread."
        ),
    ] = None


@dataclass(frozen=True)
class Reports:
    """Reports, recordings and messages."""

    report_to: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a report; FILE ends in .html or .json."),
    ] = None
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY", help="Record arrivals and exits of all calls for convene trace DIRECTORY."
        ),
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
        bool, typer.Option("--log", help="Print choices and messages of the ranks at once, to stderr.")
    ] = False

    def check(self) -> None:
        if self.report_to:
            report.check_path(self.report_to)
        if self.warn_after == 0:
            raise RequestError("--warn-after 0 would warn in every call; give a time above 0, such as 0.001")


@grouped
def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- PROGRAM...", help="Program with its launcher and arguments."),
    ],
    choice: Choice,
    progress: Progress,
    reports: Reports,
    stack: Annotated[
        str | None, options.stack_option("MPI of the program, if Convene cannot detect it.")
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
        wisdom=check_wisdom(
            choice.wisdom,
            may_be_new=choice.may_begin_wisdom(),
            if_absent="; give --learn to begin a new file",
        ),
        learn=choice.learning(),
        transport=check_transport(progress.transport),
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
    """Runs the program and reads the profiles and recordings of its ranks."""
    place = launchers.common_place(command[0])
    is_reported = reports.report_to is not None
    with (
        folders.profile_directory(place) as directory,
        folders.recording_directory(reports.record, is_reported, place) as recorded,
    ):
        settings = replace(settings, profile_directory=directory, recording=str(recorded) if recorded else "")
        variables = settings.variables()
        with returns.returning(Path(directory), recorded, variables) as returned:
            prepared = prepare(command, stack, {**variables, **returned})
            since = time.monotonic()
            status = processes.execute(
                prepared.command, prepared.environment, resolve=settings.warn_after is not None
            )
            seconds = time.monotonic() - since
        late = summarize_recording(recorded, is_reported)
        found = profiles.read(Path(directory))
    return Run(command, settings.uses, settings.rules, prepared.stack, status, seconds, found, late)


def summarize_recording(directory: Path | None, report_wanted: bool) -> "Summary | None":
    """Summarizes lateness, if it was recorded. An unreadable recording does not prevent the rest of the
    report."""
    return left.lateness_of(directory) if directory and report_wanted else None


def write_report(done: Run, path: Path) -> None:
    if path.suffix == ".json":
        console.write_file(path, console.json_text(done.as_json()) + "\n")
        return
    from convene.run import pages  # imports Jinja, and Matplotlib for lateness

    console.write_file(path, pages.page(done))


def register(app: typer.Typer) -> None:
    app.command("run", help=HELP, context_settings={"allow_interspersed_args": False})(run)
