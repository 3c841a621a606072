# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate program: simulates a loop of computation and collectives."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from convene.base import console
from convene.base.result_types import Json, Simulation
from convene.base.text import seconds_text
from convene.catalogue import selection
from convene.cli import completion, options, simulations
from convene.cli.groups import grouped
from convene.cli.simulations import Details, Files, Physics, Place
from convene.simulate import inputs, platforms, programs, skeletons, sweeps
from convene.simulate.programs import Program, Setting
from convene.simulate.skeletons import Call
from convene.trace import recordings, replays
from convene.trace.replays import RecordedCalls

HELP = """Simulates a program: a loop of computation and collectives, described by a JSON file.

Or replays a recorded program (convene run --record DIRECTORY): its ranks compute as recorded between their \
blocking collectives. On more ranks than recorded the computations of the recorded ranks are repeated, and \
the bytes of a block stay the same.

A rank that leaves a collective late arrives late at the next one. Without --use, the command compares all \
algorithms of the first collective for which the file names none; other such collectives use the algorithm \
that is fastest for balanced arrivals.

[bold]Examples[/bold]

  convene simulate program program.json --platform curie -p 64

  convene simulate program program.json --platform curie -p 64 --use allgather=ring --use allgather=bdr

  convene simulate program recorded --platform curie -p 1024 --use allreduce=rabenseifner
"""


@grouped
def program(
    skeleton: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.json|DIRECTORY", help="Description of the program (skeleton), or its recording."
        ),
    ],
    place: Place,
    details: Details,
    physics: Physics,
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
    for each in use or []:
        selection.check_use(each)
    journal = written.open_journal()
    setting = Setting(
        physics.on(platforms.load_platform(place.platform)),
        simulations.check_procs(place.procs),
        place.mapping,
        details.is_exact,
        inputs.parse_noise(details.noise, details.seed),
        details.seed,
    )
    options_json = {
        "engine": "builtin",
        "mapping": place.mapping,
        "noise": details.noise,
        "contention": details.contention,
        "seed": details.seed,
        "arrivals": "of the recording" if skeleton.is_dir() else "of the skeleton",
    }
    if skeleton.is_dir():
        replay(skeleton, use or [], setting, options_json, written, json=json)
        return
    read = skeletons.read(skeleton)
    made = programs.programs(read, use or [], setting, simulations.simulate)
    result = sweeps.as_result(made, simulations.simulate(list(made), journal), options_json)
    result["skeleton"] = {"name": read.name, "iterations": read.iterations}
    written.write(result, journal)
    if json:
        console.print_json(result)
        return
    console.make().print(table(f"{read.name}, {read.iterations} iterations, {on(setting)}", result))
    say_others(read.calls, made[0])


def replay(
    directory: Path, uses: list[str], setting: Setting, options_json: Json, written: Files, *, json: bool
) -> None:
    """Replays a recording, and compares with what was recorded."""
    recorded = replays.read_calls(recordings.read(directory))
    made = replays.replays(recorded, uses, setting, simulations.simulate)
    result = sweeps.as_result(made, simulations.simulate(list(made), None), options_json)
    calls = len(recorded.kind)
    result["skeleton"] = {"name": directory.name, "iterations": calls}
    written.write(result, None)
    if json:
        console.print_json(result)
        return
    heading = f"{directory.name}, {calls} recorded calls of {recorded.procs} ranks, {on(setting)}"
    console.make().print(table(heading, result, shares=False))
    first = result["sizes"][0]["contenders"][0]
    console.say(sentence_of(recorded, setting.procs, sum(first["mean"])))
    if recorded.left_out:
        console.say(
            f"{recorded.left_out} other recorded calls are left out: non-blocking ones, neighborhood "
            "collectives, and those on other communicators; they count as computation."
        )


def sentence_of(recorded: RecordedCalls, procs: int, simulated: float) -> str:
    """What was measured, beside the simulation of the first program."""
    text = f"In collectives, mean over ranks: recorded {seconds_text(recorded.in_collectives)}"
    if procs != recorded.procs:
        return f"{text} on {recorded.procs} ranks, simulated {seconds_text(simulated)} on {procs}."
    return f"{text}, simulated {seconds_text(simulated)} ({simulated / recorded.in_collectives:.2f})."


def on(setting: Setting) -> str:
    return f"{setting.procs} ranks on {setting.platform.name}"


def table(heading: str, result: Simulation, *, shares: bool = True) -> Table:
    """`shares`: of the time, in per cent; else seconds."""
    heads = ("time", "of the best", "in collectives", "waiting")
    found = console.table(heading, "program", *heads, numbers=heads, optional=("waiting", "in collectives"))
    contenders = result["sizes"][0]["contenders"]
    totals = [sum(contender["seconds"]) for contender in contenders]
    for contender, total in zip(contenders, totals, strict=True):
        ratio = f"{total / min(totals):.3f}" if min(totals) else ""
        parts = (sum(contender["mean"]), sum(contender["waiting"]))
        found.add_row(
            contender["name"],
            seconds_text(total),
            f"[green]{ratio}[/green]" if total == min(totals) else ratio,
            *(f"{100 * part / (total or 1):.0f} %" if shares else seconds_text(part) for part in parts),
        )
    return found


def say_others(calls: Sequence[Call], made: Program) -> None:
    specs = {call.collective: spec for call, spec in zip(calls, made.specs, strict=True)}
    others = [f"{name}={spec}" for name, spec in specs.items() if f"{name}=" not in made.spec]
    if others:
        console.say(f"all with {', '.join(others)}")


def register(group: typer.Typer) -> None:
    group.command("program", help=HELP)(program)
