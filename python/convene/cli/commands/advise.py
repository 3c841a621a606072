# SPDX-License-Identifier: BSD-3-Clause
"""convene advise: what a program would gain by other algorithms, by call site, and the rules for it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from convene import _core
from convene.advise import advice, program, proof, rules_file, sites, tables
from convene.advise.advice import Advice
from convene.advise.program import Program, Recorded
from convene.advise.proof import Proof
from convene.base import console, parsing
from convene.base.progress import shown
from convene.cli import options
from convene.cli.groups import grouped

HELP = """Shows what an MPI program would gain by other algorithms, by call site, and writes the rules for it.

Runs and records the program once with native algorithms. At the call sites that communicate for at least \
0.5 % of the program's time, measures other algorithms against the native one, with the program's launcher, \
sizes, communicators and arrivals. A rule is written only if an algorithm is faster by each method of \
measuring. Finally, runs the program without Convene and with the rules, in pairs, to show the gain.

The program is run several times, so its input must be in files, and its output is shown once.

[bold]Examples[/bold]

  convene advise -- mpirun -n 8 ./app

  convene advise --budget 10min -o app.rules -- mpirun --hostfile hosts -n 64 ./app

  convene advise --no-proof --json -- mpiexec -n 4 python app.py

Then: convene run --rules advise.rules -- mpirun -n 8 ./app
"""


@dataclass(frozen=True)
class Extent:
    """Extent: time and proof."""

    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Time for the measurements, such as 90s or 10min. The proof may take as much again.",
        ),
    ] = "2min"
    proof: Annotated[
        bool,
        typer.Option(
            "--proof/--no-proof", help="Run the program with the rules, and without, to show the gain."
        ),
    ] = True


@grouped
def advise(
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- PROGRAM...", help="Program with its launcher and arguments."),
    ],
    extent: Extent,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the rules to FILE. A file that is not from this command is never overwritten.",
        ),
    ] = rules_file.DEFAULT,
    stack: Annotated[
        str | None, options.stack_option("MPI of the program, if Convene cannot detect it.")
    ] = None,
    json: options.Json = False,
) -> None:
    budget = parsing.parse_budget(extent.budget)
    rules_file.check(output)
    wanted = Program(command, stack)
    wanted.launch()
    recorded = wanted.record(output_to_stderr=json)
    if why := program.why_nothing(recorded):
        report_nothing(recorded, why, json)
    assert recorded.recording is not None
    found = measure(wanted, recorded, budget)
    gains = rules_file.winners(found)
    if gains:
        rules_file.write(output, found, command, _core.place(recorded.profiles.libraries[0])["mpi"])
    proved = prove(wanted, output, recorded, budget) if gains and extent.proof else None
    if json:
        print_json(recorded, found, output if gains else None, proved)
    else:
        show(recorded, found, output if gains else None, proved)


def report_nothing(recorded: Recorded, why: str, as_json: bool) -> None:
    """Says why there is no advice, and exits with the program's status."""
    if as_json:
        console.print_json(
            {"command": recorded.command, "seconds": recorded.seconds, "sites": [], "messages": [why]}
        )
    else:
        console.say(f"convene: {why}", error=True)
    raise typer.Exit(recorded.status)


def measure(wanted: Program, recorded: Recorded, budget: float) -> list[Advice]:
    assert recorded.recording is not None
    with shown("measuring", "call signatures") as advance:
        return advice.advise(
            recorded, sites.find(recorded.recording), wanted.setting(recorded.stack), budget, advance
        )


def prove(wanted: Program, rules: Path, recorded: Recorded, budget: float) -> Proof:
    with shown("proving", "pairs of runs") as advance:
        return proof.prove(wanted, rules, recorded.seconds, budget, advance)


def print_json(recorded: Recorded, found: list[Advice], rules: Path | None, proved: Proof | None) -> None:
    assert recorded.recording is not None
    console.print_json(
        {
            "command": recorded.command,
            "stack": recorded.stack,
            "seconds": recorded.seconds,
            "procs": recorded.recording.procs,
            "sites": [each.as_json() for each in found],
            "rules": str(rules) if rules else None,
            "saves_predicted": sum(each.saves for each in found),
            "proof": proved.as_json() if proved else None,
            "messages": recorded.recording.messages,
        }
    )


def show(recorded: Recorded, found: list[Advice], rules: Path | None, proved: Proof | None) -> None:
    assert recorded.recording is not None
    output = console.make()
    output.print()
    output.print(tables.table(found, recorded.seconds), markup=False)
    output.print()
    for sentence in (
        tables.overview(recorded, found),
        *tables.sentences(found),
        *recorded.recording.messages,
    ):
        console.say(sentence)
    if rules:
        console.say(f"wrote {rules}: use it with convene run --rules {rules}")
    if proved:
        console.say(proved.sentence())
        for message in proved.messages:
            console.say(message)


def register(app: typer.Typer) -> None:
    app.command("advise", help=HELP)(advise)
