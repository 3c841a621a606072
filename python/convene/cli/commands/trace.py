# SPDX-License-Identifier: BSD-3-Clause
"""convene trace: the collectives of an unmodified program as a timeline."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from convene._core import RequestError
from convene.base import console
from convene.cli import completion, options
from convene.mpi import launchers
from convene.run import processes
from convene.run.environment import check_rules, check_uses, collect_environment, prepare
from convene.trace import exports, files, lateness, recordings
from convene.trace.lateness import Calls, Summary
from convene.trace.tables import call_table, kind_table, rank_table, sentences

HELP = """Shows who came late to the collectives of a program, and what the others' waiting cost.

Runs the program and records it, or reads what an earlier run has left (convene run --record DIRECTORY).

Imbalance is the time from the first arrival at a call to the last; waiting is what a rank is inside before \
the last one comes; gain is how much of the imbalance did not make the call longer (absorption).

[bold]Examples[/bold]

  convene trace -- mpirun -n 4 ./app

  convene trace --export timeline.json --picture timeline.svg -- mpirun -n 8 python app.py

  convene trace recorded --site 2 --arrivals arrivals.txt
"""

MOST_SHOWN = 1 << 20
SEEN_DEFAULT = 10


def check_file(option: str, path: Path | None, suffix: str = "") -> None:
    """Nobody wants to hear after the run that there is no place for what it shows."""
    if path is None:
        return
    if suffix and path.suffix != suffix:
        raise RequestError(f"{option} writes a {suffix} file, and '{path.name}' is none")
    if not path.parent.is_dir():
        raise RequestError(f"{path} cannot be written: there is no directory {path.parent}")


def choose_site(summary: Summary, number: int | None) -> Calls:
    """The site that is asked for by its number in the table, or the one with the most waiting."""
    if not summary.kinds:
        raise RequestError("there is no call in the recording whose arrivals could be written")
    if number is None:
        return summary.kinds[0]
    if not 1 <= number <= len(summary.kinds):
        raise RequestError(f"--site is a number from 1 to {len(summary.kinds)}, not {number}")
    return summary.kinds[number - 1]


def show(summary: Summary, calls: int, as_json: bool) -> None:
    """To stdout."""
    if as_json:
        every = sorted(
            ((kind, index) for kind in summary.kinds for index in range(len(kind))),
            key=lambda each: float(each[0].arrivals[each[1]].min()),
        )
        told = [
            {
                "time": float(kind.arrivals[index].min() - summary.recording.start),
                "collective": kind.kind.collective,
                **exports.describe_call(kind, index),
            }
            for kind, index in every
        ]
        console.print_json({**summary.as_json(), "timeline": told})
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
        output.print(sentence, markup=False, soft_wrap=True)


def export(
    summary: Summary,
    to_chrome: Path | None,
    arrivals: Path | None,
    site: int | None,
    picture: Path | None,
) -> None:
    if to_chrome:
        console.write_file(to_chrome, console.json_text(exports.chrome_trace(summary)) + "\n")
    if arrivals:
        console.write_file(arrivals, exports.arrival_trace(choose_site(summary, site)))
    if picture:
        if not summary.kinds:
            raise RequestError("there is no call in the recording that could be drawn")
        from convene.trace import pictures  # Matplotlib takes a while

        console.write_file(picture, pictures.timeline(summary) + "\n")


def record(command: list[str], directory: Path, uses: str, rules: str, stack: str | None) -> int:
    """Runs the program; what its ranks recorded is in the directory then. Returns its exit status."""
    variables = collect_environment(uses, rules, False, False, "")
    variables["CONVENE_RECORD"] = str(directory)
    _, prepared, environment = prepare(command, stack, variables)
    return processes.execute(prepared, environment)


def trace(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="DIRECTORY | -- PROGRAM...",
            help="What was recorded, or a program with its launcher and arguments.",
        ),
    ],
    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=ALGORITHM,...",
            help="Force these algorithms in the program that is run.",
            autocompletion=completion.complete_use,
        ),
    ] = None,
    stack: Annotated[
        str | None, options.stack_option("Which MPI the program uses, where that cannot be found out.")
    ] = None,
    calls: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=MOST_SHOWN, help="Show the N calls with the most waiting, one by one."
        ),
    ] = SEEN_DEFAULT,
    to_chrome: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write the timeline for Perfetto or chrome://tracing."),
    ] = None,
    arrivals: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a site's arrivals for convene bench --arrivals trace:FILE."),
    ] = None,
    site: Annotated[
        int | None,
        typer.Option(metavar="N", help="The site for --arrivals, by its number in the table (default: 1)."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the timeline, as .svg.")] = None,
    json: options.Json = False,
) -> None:
    check_file("--export", to_chrome, ".json")
    check_file("--arrivals", arrivals)
    check_file("--picture", picture, ".svg")
    if site is not None and not arrivals:
        raise RequestError("--site says whose arrivals are to be written; add --arrivals FILE")
    status = 0
    if len(words) == 1 and Path(words[0]).is_dir():
        if use or stack:
            raise RequestError(f"{words[0]} is a recording; --use and --stack are for a program that is run")
        recording = recordings.read(Path(words[0]))
    elif len(words) == 1 and not launchers.find_program(words[0]):
        raise RequestError(
            f"'{words[0]}' is neither a directory with a recording nor a program; try "
            "convene trace -- mpirun -n 4 ./app"
        )
    else:
        uses, rules = check_uses(use or []), check_rules(None)
        place = launchers.common_place(words[0])
        with tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as directory:
            status = record(words, Path(directory), uses, rules, stack)
            if not files.files_in(Path(directory)):
                console.complain(
                    "no rank has left a recording: the program made no collective calls, or it ended without "
                    "MPI_Finalize"
                )
                raise typer.Exit(status or 1)
            recording = recordings.read(Path(directory))
    summary = lateness.summarize(recording)
    show(summary, calls, json)
    export(summary, to_chrome, arrivals, site, picture)
    raise typer.Exit(status)


def register(app: typer.Typer) -> None:
    app.command("trace", help=HELP)(trace)
