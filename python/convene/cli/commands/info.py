# SPDX-License-Identifier: BSD-3-Clause
"""convene info: this machine, its MPIs and the wisdom files on one page."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from convene import __version__, _core
from convene._core import RequestError
from convene.base import console
from convene.base.text import bytes_text
from convene.cli.options import Json, check_output
from convene.info import fabric, machine, mpis, native_choices
from convene.info.fabric import Fabric
from convene.info.machine import Machine
from convene.info.mpis import FoundMpi, ProgramFacts
from convene.info.native_choices import NativeChoices
from convene.mpi import launchers, stacks
from convene.tune import wisdom_files

HELP = """Prints one page for a support ticket: this machine, its MPIs with the drop-in library of each, and \
the wisdom in use.

Nothing is measured, and no MPI program runs. Native algorithms are those in the selection tree of MPICH's \
library; other MPIs do not say them without a run.

[bold]Examples[/bold]

  convene info

  convene info ./app

  convene info -o machine.svg
"""


def plural(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def cores_of(found: Machine) -> str:
    text = f"{found.cores}, {found.bound_to} for this process"
    if found.threads and found.packages:
        text += f"; {plural(found.threads, 'hardware thread')}, {plural(found.packages, 'package')}"
    return text


def levels_of(found: Machine) -> str:
    """The levels by which hierarchical algorithms can divide this node."""
    several = [f"{name}:{number}" for name, number in found.levels.items() if number > 1]
    return " ".join(several) or "one domain"


def fabric_text(found: Fabric | None) -> str:
    if found is None:
        return "none"
    return f"{found.version}, {found.library}: {', '.join(fabric.usable(found)) or 'no provider'}"


def facts_of(found: Machine, network: Fabric | None) -> list[tuple[str, str]]:
    caches = ", ".join(f"{each.level} {each.size} (cores {each.cores})" for each in found.caches)
    return [
        ("processor", found.processor),
        ("cores", cores_of(found)),
        ("NUMA domains", str(found.numa_domains)),
        ("levels within a node", levels_of(found)),
        ("caches", caches or "?"),
        ("memory", f"{found.memory}; {found.shared_memory}"),
        ("nodes", found.nodes),
        ("single copy (CMA)", found.cma),
        ("network", found.network),
        ("libfabric", fabric_text(network)),
        ("GPU runtimes", ", ".join(found.gpu_runtimes) or "none"),
    ]


def wisdom_in_force(processor: str) -> list[tuple[str, str]]:
    """Wisdom files that the library reads, with the number of entries for this processor, by MPI."""
    rows = []
    for path in wisdom_files.search_path():
        if not path.is_file():
            rows.append((str(path), "absent"))
            continue
        try:
            here = Counter(each["mpi"] for each in wisdom_files.read(path) if each["cpu"] == processor)
        except RequestError as error:
            rows.append((str(path), f"not used: {error}"))
            continue
        said = ", ".join(f"{number} entries for {mpi}" for mpi, number in here.items())
        rows.append((str(path), said or "no entry for this processor"))
    return rows or [("CONVENE_WISDOM", "none: no file is read")]


def settings_in_force() -> list[tuple[str, str]]:
    """CONVENE_* variables, with the number of rules; without those of a run, one of which is a secret."""
    rows = []
    for name, value in sorted(os.environ.items()):
        if not name.startswith("CONVENE_") or name in launchers.RETURN_VARIABLES:
            continue
        rows.append((name, rules_in_force(value) if name == "CONVENE_RULES" and value else value))
    return rows


def rules_in_force(value: str) -> str:
    """With the number of rules. A file behind a hyphen may be absent."""
    path = value.removeprefix("-")
    if path != value and not Path(path).exists():
        return f"{value} (absent)"
    try:
        return f"{value} ({plural(len(_core.rules(path)), 'rule')})"
    except RequestError as error:
        return f"not usable: {error}"


def grid(title: str, rows: list[tuple[str, str]]) -> Table:
    table = console.table(title, "", "")
    table.show_header = False
    for name, value in rows:
        table.add_row(name, value)
    return table


def mpi_table(found: list[FoundMpi]) -> Table:
    table = console.table(
        "MPIs", "launcher", "MPI", "version", "drop-in library", "threads", optional=["threads"]
    )
    for each in found:
        table.add_row(
            each.launcher,
            each.family,
            each.version,
            ", ".join(each.libraries) or "not built",
            each.threads or "?",
        )
    return table


def native_table(found: NativeChoices) -> Table:
    table = console.table(
        f"Native algorithms of {found.mpi} ({plural(found.procs, 'rank')} of one thread on this node)",
        "collective",
        *(bytes_text(size) for size in found.sizes),
    )
    for collective, algorithms in found.algorithms.items():
        table.add_row(collective, *algorithms)
    if found.changed_by:
        table.caption = f"{', '.join(found.changed_by)} may change them"
    return table


@dataclass(frozen=True)
class Facts:
    """All that the page has."""

    machine: Machine
    fabric: Fabric | None
    mpis: list[FoundMpi]
    native: NativeChoices | None
    program: ProgramFacts | None

    def as_json(self) -> dict[str, object]:
        return {
            "convene": __version__,
            **asdict(self),
            "settings": dict(settings_in_force()),
            "wisdom": dict(wisdom_in_force(self.machine.processor)),
        }


def collect(program: str | None) -> Facts:
    inspected = mpis.inspect(program) if program is not None else None
    with ThreadPoolExecutor() as pool:
        network = pool.submit(fabric.read)
        found, launchable = machine.read(), mpis.find()
        return Facts(found, network.result(), launchable, native_of(launchable, inspected, found), inspected)


def native_of(found: list[FoundMpi], program: ProgramFacts | None, node: Machine) -> NativeChoices | None:
    """Of the first MPICH, if the program may be one of MPICH's: other MPIs do not say it without a run."""
    if program and program.interface == stacks.INTERFACES["openmpi"]:
        return None
    version = next((each.version for each in found if each.family == "MPICH"), None)
    return native_choices.of_mpich(version, max(2, node.cores)) if version else None


def page(output: Console, facts: Facts) -> None:
    output.print(f"Convene {__version__}\n")
    output.print(grid("Machine", facts_of(facts.machine, facts.fabric)))
    output.print(mpi_table(facts.mpis) if facts.mpis else "No MPI launcher found.")
    if facts.native:
        output.print(native_table(facts.native))
    output.print(grid("Wisdom", wisdom_in_force(facts.machine.processor)))
    if rows := settings_in_force():
        output.print(grid("Settings", rows))
    if program := facts.program:
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
    facts = collect(program)
    if json:
        console.print_json(facts.as_json())
        return
    if output is None:
        page(console.make(), facts)
        return
    with Path("/dev/null").open("w") as nowhere:
        recorded = Console(record=True, width=110, file=nowhere, highlight=False)
        page(recorded, facts)
    console.write_file(output, recorded.export_svg(title="convene info"))


def register(app: typer.Typer) -> None:
    app.command("info", help=HELP)(info)
