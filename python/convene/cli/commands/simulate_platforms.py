# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate platforms: lists the platforms that come with Convene."""

import json
from pathlib import Path
from typing import Annotated

import typer

from convene.base import console, jsons
from convene.cli import simulations
from convene.cli.options import Json
from convene.model import measured_machines, platform_files
from convene.simulate import platforms
from convene.simulate.platforms import Platform

HELP = """Lists the platforms that come with Convene, or prints one as JSON, to copy and change.

A file of convene measure is printed in the form that simulations read: its links and processors take as \
long as the measured parameters say.

[bold]Examples[/bold]

  convene simulate platforms

  convene simulate platforms curie

  convene simulate platforms here.json > here.simulated.json

  convene simulate platforms --json
"""


def list_platforms(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE]", help="Print this platform.", autocompletion=simulations.complete_platform
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    if name:
        print(text_of(name).rstrip("\n"))
        return
    known = [(each, platforms.load_platform(each)) for each in platforms.known_platforms()]
    if as_json:
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


def text_of(name: str) -> str:
    """The platform as simulations read it; one of the models is converted."""
    path = Path(name)
    if path.is_file():
        file = platform_files.load(name)
        if not platforms.is_platform(path.read_text(encoding="utf-8-sig")):
            platform = measured_machines.simulated_platform(file)
            _ = platform.machine  # raises an error for an invalid one
            return json.dumps(jsons.parse(platform.text, name), indent=1)
    return platforms.load_platform(name).text


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
