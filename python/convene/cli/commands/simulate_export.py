# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate export: writes a platform for SimGrid."""

from pathlib import Path
from typing import Annotated

import typer

from convene.base import console
from convene.cli import simulations
from convene.cli.options import check_output
from convene.simulate import platforms

HELP = """Writes the SimGrid platform of convene simulate sweep --engine smpi: one host for each rank.

[bold]Examples[/bold]

  convene simulate export yahoo -p 64 -o yahoo.xml

  convene simulate export platform.json -p 16 --mapping cyclic -o platform.xml
"""


def export(
    platform: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="Platform: a name that convene simulate platforms lists, or a JSON file.",
            autocompletion=simulations.complete_platform,
        ),
    ],
    procs: Annotated[int, typer.Option("-p", "--procs", metavar="N", help="Number of ranks.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.xml", help="File to write.")],
    mapping: Annotated[
        str,
        typer.Option(
            metavar="sequential|cyclic|LIST",
            help="Mapping of ranks to nodes; a list names the node of each rank.",
        ),
    ] = "sequential",
) -> None:
    check_output("-o", output, "")
    simulations.check_procs(procs)
    machine = platforms.load_platform(platform)
    console.write_file(output, machine.parsed.simgrid(mapping, procs))


def register(group: typer.Typer) -> None:
    group.command("export", help=HELP)(export)
