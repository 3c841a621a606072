# SPDX-License-Identifier: BSD-3-Clause
"""convene rules: rules files of MPI libraries."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from convene.base import console, jsons
from convene.cli.options import Json, complete
from convene.rules import checking
from convene.rules.findings import Report

GROUP_HELP = """Checks rules files: which algorithm an MPI library runs for which call.

[bold]Examples[/bold]

  convene rules check tuned.conf

  convene rules check --for openmpi-4 tuned.conf
"""

CHECK_HELP = """Checks a rules file, and reports what the MPI does with it that its author did not mean.

The format is recognised by content: Open MPI's tuned rules (classic and JSON) and han rules, MPICH's \
selection tree, I_MPI_ADJUST_ variables, UCC_TL_UCP_TUNE, and Convene's rules. Classic tuned rules are \
checked for Open MPI 4.1 and 5.0 unless --for names one.

A finding has a kind: dropped (ignored, mostly without a message), unit (a number means something else), \
unreachable (no call gets there), unknown (no such algorithm or field), fails (MPI_Init or a call fails), \
reach (applies to more calls than it names). Exit status: 0 no findings, 1 findings, 2 no known rules file.

[bold]Examples[/bold]

  convene rules check tuned.conf

  convene rules check --for openmpi-4 tuned.conf

  convene rules check coll_tuning.json --json
"""

group = typer.Typer(help=GROUP_HELP, no_args_is_help=True, rich_markup_mode="rich")


def merged(reports: list[Report]) -> list[tuple[int, str, str]]:
    """Line, kind and sentence of all findings; those of some MPIs only name them."""
    found: dict[tuple[int, str, str], list[str]] = {}
    for report in reports:
        for each in report.findings:
            found.setdefault((each.line, each.kind, each.text), []).append(report.mpi)
    lines = []
    for (line, kind, text), mpis in sorted(found.items()):
        names = "" if len(mpis) == len(reports) else f"{' and '.join(mpis)}: "
        lines.append((line, kind, names + text))
    return lines


@group.command("check", help=CHECK_HELP)
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rules file.")],
    mpi: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="|".join(checking.TARGETS),
            help="Check the reading of this MPI.",
            autocompletion=complete(checking.TARGETS),
        ),
    ] = None,
    json: Json = False,
) -> None:
    reports = checking.check(jsons.read_text(file), str(file), mpi)
    found = merged(reports)
    if json:
        console.print_json({"file": str(file), "reports": [asdict(report) for report in reports]})
    else:
        for line, kind, text in found:
            console.say(f"{file}:{line}: {kind}: {text}")
        number = max(report.rules for report in reports)
        names = ", ".join(report.mpi for report in reports)
        said = f"{len(found)} finding{'' if len(found) == 1 else 's'}" if found else "no findings"
        console.say(f"{file}: {reports[0].format}, as {names} reads it: {number} rules, {said}")
        for note in dict.fromkeys(note for report in reports for note in report.notes):
            console.say(f"note: {note}")
    if found:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="rules")
