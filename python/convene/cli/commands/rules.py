# SPDX-License-Identifier: BSD-3-Clause
"""convene rules: rules files of MPI libraries, and explanations of Convene's own choices."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from convene._core import RequestError
from convene.base import console, jsons
from convene.cli.commands import rules_explain
from convene.cli.options import Json, check_output, check_word, choices, complete
from convene.rules import checking, exporting
from convene.rules.findings import Report
from convene.tune import wisdom_files

GROUP_HELP = """Explains Convene's choices; checks and writes rules files of MPIs, for runs without Convene.

[bold]Examples[/bold]

  convene rules explain allgather -p 6 --bytes 4KiB --rules rules.json

  convene rules check tuned.conf

  convene rules export --to openmpi-4 -o tuned.conf
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

EXPORT_HELP = """Writes the native algorithms of wisdom as rules of an MPI, for runs without Convene.

Choices that need Convene, or that the rules cannot express, are listed with the reason. The variables \
that switch the rules on are printed. Wisdom names native algorithms in the field native_algorithm; convene \
tune does not measure them yet.

For MPICH, branches are put into the selection tree of your own library. Rules for Open MPI 4.1 and 5.0 and \
for MPICH were run with these MPIs; those for Open MPI 6, han, Intel MPI and UCC were only parsed.

[bold]Examples[/bold]

  convene rules export --to openmpi-4 -o tuned.conf

  convene rules export --to mpich --library /opt/mpich/lib/libmpi.so.12 -o tree.json

  convene rules export --to intel --wisdom site.json -o adjust.sh
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
            metavar=choices(checking.TARGETS),
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


@group.command("export", help=EXPORT_HELP)
def export(
    target: Annotated[
        str,
        typer.Option(
            "--to",
            metavar=choices(exporting.TARGETS),
            help="MPI, or component, whose rules are written.",
            autocompletion=complete(exporting.TARGETS),
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write here. Default: standard output."),
    ] = None,
    wisdom: Annotated[
        Path | None,
        typer.Option(
            "--wisdom", metavar="FILE", help="Wisdom file. Default: the files that the library reads."
        ),
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option("--mpi", metavar="NAME", help="Wisdom of this MPI only, as in 'Open MPI 4.1.4'."),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="Wisdom of communicators on this number of nodes only.")
    ] = None,
    library: Annotated[
        Path | None,
        typer.Option("--library", metavar="FILE", help="With --to mpich: libmpi.so.12 of that MPICH."),
    ] = None,
) -> None:
    check_word("--to", target, exporting.TARGETS)
    if library and target != "mpich":
        raise RequestError("--library is for --to mpich only; leave it out")
    check_output("-o", output, "")
    if wisdom:
        wisdom_files.check_file(wisdom)
    paths = [wisdom] if wisdom else wisdom_files.search_path()
    entries = [entry for path in paths for entry in wisdom_files.read(path)]
    done = exporting.export(entries, target, output, exporting.Selected(mpi, nodes), library)
    if output:
        console.write_file(output, done.text)
        console.say(f"wrote {done.count} choices for {done.mpi} to {output}")
    else:
        print(done.text, end="")
    say = console.say if output else console.complain
    for name, value in done.environment.items():
        line = f"export {name}={shlex.quote(value)}"
        print(line) if output else console.complain(line)
    for each in done.left:
        say(f"not exported: {each.what}: {each.reason}")
    for note in done.notes:
        say(f"note: {note}")


group.command("explain", help=rules_explain.HELP)(rules_explain.explain)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="rules")
