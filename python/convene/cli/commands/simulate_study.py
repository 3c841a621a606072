# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate study: simulates an experiment of a publication."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from convene._core import RequestError
from convene.base import console
from convene.cli import simulations, study_names
from convene.cli.groups import grouped
from convene.cli.options import Json, check_output
from convene.cli.simulations import Files
from convene.simulate.cases import Case
from convene.simulate.journal import Journal
from convene.studies import registry
from convene.studies.simulated import Result, Study

HELP = """Simulates an experiment of a publication in full, and compares with the published results.

[bold]Examples[/bold]

  convene simulate study sparbit -o sparbit.json --figure sparbit.svg

  convene simulate study sparbit -o sparbit.json --resume

  convene simulate study forecast -p 512
"""


@grouped
def study(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"Study: {', '.join(registry.SIMULATED)}.",
            autocompletion=study_names.complete(registry.SIMULATED),
        ),
    ],
    written: Files,
    physics: simulations.Physics,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Write the figure of the study.")
    ] = None,
    procs: Annotated[
        int | None,
        typer.Option("-p", "--procs", metavar="N", help="Number of ranks, for studies that do not fix it."),
    ] = None,
    order: simulations.Order = "any",
    json: Json = False,
) -> None:
    check_output("--figure", figure, ".svg")
    journal = written.open_journal()
    chosen = study_names.find(registry.SIMULATED, name)
    simulations.check_order(order)
    check_procs(chosen, procs)
    run = in_order(chosen, journal) if order == "compiled" else at_once(journal)

    simulated = 0

    def simulate(cases: list[Case]) -> list[Any]:
        nonlocal simulated
        simulated += len(cases)
        return run(physics.in_all(cases))

    result = chosen.run_on(simulate, procs) if procs and chosen.run_on else chosen.run(simulate)
    if physics.is_given and simulated == 0:
        raise RequestError(f"the study {chosen.name} has no --time-slice and no --incast; leave them out")
    written.write(result, journal)
    if figure:
        draw(chosen, result, figure)
    show(chosen, result, json=json)


def check_procs(chosen: Study[Any], procs: int | None) -> None:
    if procs is None:
        return
    simulations.check_procs(procs)
    if not chosen.run_on:
        raise RequestError(f"the study {chosen.name} uses the publication's numbers of ranks; leave out -p")
    if procs == 1:
        raise RequestError(f"the study {chosen.name} needs at least two ranks; try -p 2")


def at_once(journal: Journal | None) -> Callable[[list[Case]], list[Any]]:
    return lambda cases: simulations.simulate(cases, journal)


def in_order(chosen: Study[Any], journal: Journal | None) -> Callable[[list[Case]], list[Any]]:
    """Simulates in the executor's order of steps."""

    def simulate(cases: list[Case]) -> list[Any]:
        if any(type(case) is not Case for case in cases):
            raise RequestError(
                f"the study {chosen.name} has background progress, which --order compiled excludes; leave "
                "it out"
            )
        return simulations.simulate([replace(case, ordered=True) for case in cases], journal)

    return simulate


def show(chosen: Study[Any], result: Result, *, json: bool) -> None:
    if json:
        console.print_json({key: value for key, value in result.items() if key != "cells"})
        return
    for table in chosen.tables(result):
        console.make().print(table)
    for sentence in chosen.sentences(result):
        console.say(sentence)


def draw(chosen: Study[Any], result: Result, path: Path) -> None:
    from convene.plots import compact_svg  # imports Matplotlib

    compact_svg.save(chosen.draw(result), path)


def register(group: typer.Typer) -> None:
    group.command("study", help=HELP)(study)
