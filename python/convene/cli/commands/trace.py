# SPDX-License-Identifier: BSD-3-Clause
"""convene trace: late ranks and waiting in the collectives of an unmodified program."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from convene._core import RequestError
from convene.base import console
from convene.cli import completion, options
from convene.cli.groups import grouped
from convene.cli.options import check_output
from convene.mpi import launchers
from convene.run import folders, processes, returns
from convene.run.environment import Settings, check_rules, check_uses, prepare
from convene.trace import exports, files, lateness, recordings
from convene.trace.lateness import Calls, Summary
from convene.trace.recordings import Recording
from convene.trace.tables import call_table, kind_table, rank_table, sentences

HELP = """Shows late ranks in the collectives of a program, and the waiting that they cause.

Runs and records the program, or reads an earlier recording (convene run --record DIRECTORY).

Imbalance is the time from the first arrival at a call to the last. Waiting is the time that a rank spends \
in a call before the last arrival. Gain is the part of the imbalance that did not lengthen the call \
(absorption).

[bold]Examples[/bold]

  convene trace -- mpirun -n 4 ./app

  convene trace --export timeline.json --picture timeline.svg -- mpirun -n 8 python app.py

  convene trace recorded --site 2 --arrivals arrivals.txt
"""

MOST_SHOWN = 1 << 20
SEEN_DEFAULT = 10


@dataclass(frozen=True)
class Exports:
    """Exports: timeline, arrivals, picture."""

    to_chrome: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write the timeline for Perfetto or chrome://tracing."),
    ] = None
    arrivals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the arrivals at one call site for convene bench run --arrivals trace:FILE.",
        ),
    ] = None
    site: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Call site of --arrivals: its number in the table. Default: 1."
        ),
    ] = None
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the timeline; FILE ends in .svg.")
    ] = None

    def check(self) -> None:
        check_output("--export", self.to_chrome, ".json")
        check_output("--arrivals", self.arrivals, "")
        check_output("--picture", self.picture, ".svg")
        if self.site is not None and not self.arrivals:
            raise RequestError("--site selects the call site for --arrivals FILE; add that option")

    def choose(self, summary: Summary) -> Calls | None:
        """The call site of --arrivals. Refuses what the recording does not have, before anything is shown or
        written."""
        if self.picture and not summary.kinds:
            raise RequestError("the recording contains no calls; there is nothing to draw")
        return choose_site(summary, self.site) if self.arrivals else None

    def write(self, summary: Summary, site: Calls | None) -> None:
        if self.to_chrome:
            console.write_file(self.to_chrome, console.json_text(exports.chrome_trace(summary)) + "\n")
        if self.arrivals and site is not None:
            console.write_file(self.arrivals, exports.arrival_trace(site))
        if self.picture:
            from convene.trace import pictures  # imports Matplotlib

            console.write_file(self.picture, pictures.timeline(summary) + "\n")


def choose_site(summary: Summary, number: int | None) -> Calls:
    """The call site of this number in the table; by default the one with the most waiting."""
    if not summary.kinds:
        raise RequestError("the recording contains no calls; there are no arrivals to write")
    if number is None:
        return summary.kinds[0]
    if number > len(summary.kinds):
        raise RequestError(f"--site {number} is out of range; give a number from 1 to {len(summary.kinds)}")
    return summary.kinds[number - 1]


def show(summary: Summary, calls: int, as_json: bool) -> None:
    """Prints the summary to stdout."""
    if as_json:
        every = sorted(
            ((kind, index) for kind in summary.kinds for index in range(len(kind))),
            key=lambda each: float(each[0].arrivals[each[1]].min()),
        )
        timeline = [
            {
                "time": float(kind.arrivals[index].min() - summary.recording.start),
                "collective": kind.kind.collective,
                **exports.describe_call(kind, index),
            }
            for kind, index in every
        ]
        console.print_json({**summary.as_json(), "timeline": timeline})
        return
    output = console.make()
    if summary.kinds:
        tables = [kind_table(summary), rank_table(summary)]
        if calls:
            tables.append(call_table(summary, calls))
        for table in tables:
            output.print(table, markup=False)
            output.print()
    for sentence in sentences(summary):
        console.say(sentence)


@grouped
def trace(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="DIRECTORY | -- PROGRAM...",
            help="Directory of a recording, or program with its launcher and arguments.",
        ),
    ],
    written: Exports,
    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=ALGORITHM,...",
            help="Force these algorithms in the program, as in allgather=sparbit.",
            autocompletion=completion.complete_use,
        ),
    ] = None,
    stack: Annotated[
        str | None, options.stack_option("MPI of the program, if Convene cannot detect it.")
    ] = None,
    calls: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=MOST_SHOWN,
            help="Number of calls in the table of calls with the most waiting.",
        ),
    ] = SEEN_DEFAULT,
    json: options.Json = False,
) -> None:
    written.check()
    status, recording = 0, None
    if len(words) == 1 and Path(words[0]).is_dir():
        if use or stack:
            raise RequestError(f"{words[0]} is a recording; --use and --stack are for running a program")
        recording = recordings.read(Path(words[0]))
    elif len(words) == 1 and not launchers.find_program(words[0]):
        raise RequestError(
            f"'{words[0]}' is neither a directory with a recording nor a program; try "
            "convene trace -- mpirun -n 4 ./app"
        )
    else:
        status, recording = record(words, check_uses(use or []), stack)
    summary = lateness.summarize(recording)
    site = written.choose(summary)
    show(summary, calls, json)
    written.write(summary, site)
    raise typer.Exit(status)


def record(command: list[str], uses: str, stack: str | None) -> tuple[int, Recording]:
    """Runs the program; returns its exit status and the recording of its ranks."""
    settings = Settings(uses, check_rules(None))
    with tempfile.TemporaryDirectory(prefix=".convene-", dir=launchers.common_place(command[0])) as directory:
        variables = {**settings.variables(), "CONVENE_RECORD": directory}
        with returns.returning(Path(directory), None, variables) as returned:
            prepared = prepare(command, stack, {**variables, **returned})
            status = processes.execute(prepared.command, prepared.environment)
        if not files.files_in(Path(directory)):
            why = folders.why_unwritable(Path(directory))
            console.complain(
                f"no rank wrote a recording, because none can be written to {why}"
                if why
                else "no rank wrote a recording: the program made no collective calls, or it ended without "
                "MPI_Finalize"
            )
            raise typer.Exit(status or 1)
        return status, recordings.read(Path(directory))


def register(app: typer.Typer) -> None:
    app.command("trace", help=HELP)(trace)
