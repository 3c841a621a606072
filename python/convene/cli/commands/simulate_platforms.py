# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate platforms: lists the platforms that come with Convene."""

from typing import Annotated

import typer

from convene.base import console
from convene.cli import simulations
from convene.cli.options import Json
from convene.simulate import platforms
from convene.simulate.platforms import Platform

HELP = """Lists the platforms that come with Convene, or prints one as JSON, to copy and change.

[bold]Examples[/bold]

  convene simulate platforms

  convene simulate platforms curie

  convene simulate platforms --json
"""


def list_platforms(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE]", help="Print this platform.", autocompletion=simulations.complete_platform
        ),
    ] = None,
    json: Json = False,
) -> None:
    if name:
        print(platforms.load_platform(name).text.rstrip("\n"))
        return
    known = [(each, platforms.load_platform(each)) for each in platforms.known_platforms()]
    if json:
        console.print_json([{"name": each, **facts(platform)} for each, platform in known])
        return
    numbers = ("nodes", "cores")
    heads = ("name", *numbers, "machine", "description")
    table = console.table("Platforms", *heads, numbers=numbers, optional=("machine",))
    for each, platform in known:
        found = facts(platform)
        words = (found["nodes"], found["cores"], found["machine"], found["description"])
        table.add_row(each, *map(str, words))
    console.make().print(table, markup=False)
    console.make().print("\nconvene simulate platforms NAME prints one.", style="dim")


def facts(platform: Platform) -> dict[str, object]:
    machine = platform.machine
    return {
        "description": platform.description,
        "machine": machine["machine"],
        "nodes": machine["nodes"],
        "cores": machine["cores"],
    }


def register(group: typer.Typer) -> None:
    group.command("platforms", help=HELP)(list_platforms)
