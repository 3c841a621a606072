# SPDX-License-Identifier: BSD-3-Clause
"""convene info: this machine, its MPIs and the wisdom files on one page."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from convene import __version__
from convene.base import console
from convene.cli.options import Json, check_output
from convene.info import machine, mpis
from convene.info.machine import Machine
from convene.info.mpis import FoundMpi, ProgramFacts
from convene.tune import wisdom_files

HELP = """Prints one page for a support ticket: this machine, its MPIs with the drop-in library of each, and \
the wisdom in use.

[bold]Examples[/bold]

  convene info

  convene info ./app

  convene info -o machine.svg
"""


def facts_of(found: Machine) -> list[tuple[str, str]]:
    number = found.numa_domains
    domains = f"{number} NUMA domain{'' if number == 1 else 's'}"
    caches = ", ".join(f"{each.level} {each.size} (cores {each.cores})" for each in found.caches)
    return [
        ("processor", found.processor),
        ("cores", f"{found.cores}, {found.bound_to} for this process, {domains}"),
        ("caches", caches or "?"),
        ("memory", f"{found.memory}; {found.shared_memory}"),
        ("single copy (CMA)", found.cma),
        ("network", found.network),
        ("GPU runtimes", ", ".join(found.gpu_runtimes) or "none"),
    ]


def wisdom_in_force() -> list[tuple[str, str]]:
    """Wisdom files that the library reads, with the number of entries for this processor, by MPI."""
    place = machine.read().processor
    rows = []
    for path in wisdom_files.search_path():
        if not path.is_file():
            rows.append((str(path), "absent"))
            continue
        here = Counter(each["mpi"] for each in wisdom_files.read(path) if each["cpu"] == place)
        said = ", ".join(f"{number} entries for {mpi}" for mpi, number in here.items())
        rows.append((str(path), said or "no entry for this processor"))
    return rows or [("CONVENE_WISDOM", "none: no file is read")]


def grid(title: str, rows: list[tuple[str, str]]) -> Table:
    table = console.table(title, "", "")
    table.show_header = False
    for name, value in rows:
        table.add_row(name, value)
    return table


def mpi_table(found: list[FoundMpi]) -> Table:
    table = console.table("MPIs", "launcher", "MPI", "version", "drop-in library")
    for each in found:
        table.add_row(each.launcher, each.family, each.version, ", ".join(each.libraries) or "not built")
    return table


def page(output: Console, found: Machine, stacks: list[FoundMpi], program: ProgramFacts | None) -> None:
    output.print(f"Convene {__version__}\n")
    output.print(grid("Machine", facts_of(found)))
    output.print(mpi_table(stacks) if stacks else "No MPI launcher found.")
    output.print(grid("Wisdom", wisdom_in_force()))
    if program:
        output.print(
            grid(
                f"Program {program.program}",
                [
                    ("interface", program.interface),
                    ("MPI library", program.library),
                    ("drop-in library", program.preload),
                ],
            )
        )


def info(
    program: Annotated[
        str | None, typer.Argument(metavar="[PROGRAM]", help="MPI program to inspect.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE.svg", help="Write the page as a picture; FILE ends in .svg."
        ),
    ] = None,
    json: Json = False,
) -> None:
    check_output("-o", output, ".svg")
    facts = mpis.inspect(program) if program else None
    found, stacks = machine.read(), mpis.find()
    if json:
        console.print_json(
            {
                "convene": __version__,
                "machine": asdict(found),
                "mpis": [asdict(each) for each in stacks],
                "wisdom": dict(wisdom_in_force()),
                "program": asdict(facts) if facts else None,
            }
        )
        return
    if output is None:
        page(console.make(), found, stacks, facts)
        return
    with Path("/dev/null").open("w") as nowhere:
        recorded = Console(record=True, width=110, file=nowhere, highlight=False)
        page(recorded, found, stacks, facts)
    console.write_file(output, recorded.export_svg(title="convene info"))


def register(app: typer.Typer) -> None:
    app.command("info", help=HELP)(info)
