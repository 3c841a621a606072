# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate program: simulates a loop of computation and collectives."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from convene.base import console
from convene.base.result_types import Simulation
from convene.base.text import seconds_text
from convene.cli import completion, options, simulations
from convene.cli.groups import grouped
from convene.cli.simulations import Details, Files, Place
from convene.simulate import inputs, platforms, programs, skeletons, sweeps
from convene.simulate.programs import Program, Setting
from convene.simulate.skeletons import Skeleton

HELP = """Simulates a program: a loop of computation and collectives, described by a JSON file.

A rank that leaves a collective late arrives late at the next one. Without --use, the command compares all \
algorithms of the first collective for which the file names none; other such collectives use the algorithm \
that is fastest for balanced arrivals.

[bold]Examples[/bold]

  convene simulate program program.json --platform curie -p 64

  convene simulate program program.json --platform curie -p 64 --use allgather=ring --use allgather=bdr
"""


@grouped
def program(
    skeleton: Annotated[
        Path, typer.Argument(metavar="FILE.json", help="Description of the program (skeleton).")
    ],
    place: Place,
    details: Details,
    written: Files,
    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=ALGORITHM",
            help="Simulate the program with these algorithms; repeat the option to compare several.",
            autocompletion=completion.complete_use,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    journal = written.open_journal()
    setting = Setting(
        platforms.load_platform(place.platform),
        simulations.check_procs(place.procs),
        place.mapping,
        details.is_exact,
        inputs.parse_noise(details.noise, details.seed),
        details.seed,
    )
    read = skeletons.read(skeleton)
    made = programs.programs(read, use or [], setting, simulations.simulate)
    result = sweeps.as_result(
        made,
        simulations.simulate(list(made), journal),
        {
            "engine": "builtin",
            "mapping": place.mapping,
            "noise": details.noise,
            "contention": details.contention,
            "seed": details.seed,
            "arrivals": "of the skeleton",
        },
    )
    result["skeleton"] = {"name": read.name, "iterations": read.iterations}
    written.write(result, journal)
    if json:
        console.print_json(result)
    else:
        show(read, made, setting, result)


def show(skeleton: Skeleton, made: Sequence[Program], setting: Setting, result: Simulation) -> None:
    title = (
        f"{skeleton.name}, {skeleton.iterations} iterations, {setting.procs} ranks on {setting.platform.name}"
    )
    heads = ("time", "of the best", "in collectives", "waiting")
    table = console.table(title, "program", *heads, numbers=heads, optional=("waiting", "in collectives"))
    contenders = result["sizes"][0]["contenders"]
    totals = [sum(contender["seconds"]) for contender in contenders]
    for contender, total in zip(contenders, totals, strict=True):
        ratio = f"{total / min(totals):.3f}" if min(totals) else ""
        parts = (sum(contender["mean"]), sum(contender["waiting"]))
        table.add_row(
            contender["name"],
            seconds_text(total),
            f"[green]{ratio}[/green]" if total == min(totals) else ratio,
            *(f"{100 * part / (total or 1):.0f} %" for part in parts),
        )
    console.make().print(table)
    specs = {call.collective: spec for call, spec in zip(skeleton.calls, made[0].specs, strict=True)}
    others = [f"{name}={spec}" for name, spec in specs.items() if f"{name}=" not in made[0].spec]
    if others:
        console.say(f"all with {', '.join(others)}")


def register(group: typer.Typer) -> None:
    group.command("program", help=HELP)(program)
