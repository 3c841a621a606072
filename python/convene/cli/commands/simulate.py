# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate: collectives and programs on modelled platforms."""

import typer

from convene.cli.commands import (
    simulate_export,
    simulate_platforms,
    simulate_program,
    simulate_study,
    simulate_sweep,
)
from convene.cli.renamed import RenamingGroup, take

HELP = """Simulates collectives and programs on modelled platforms, from their schedules.

[bold]Examples[/bold]

  convene simulate platforms

  convene simulate sweep allgather --platform yahoo -p 64 --sizes 8:1MiB:8

  convene simulate study sparbit -o sparbit.json

  convene simulate program program.json --platform curie -p 64 --use allgather=ring

  convene simulate export yahoo -p 64 -o yahoo.xml
"""


class SimulateGroup(RenamingGroup):
    """`convene simulate COLLECTIVE`, `--study`, `--skeleton` and `--export` are old."""

    old_options = {"--rivals": "--baselines"}  # noqa: RUF012

    def translate(self, words: list[str]) -> list[str]:
        study, rest = take(words, "--study")
        if study:
            return ["study", study, *rest]
        skeleton, rest = take(words, "--skeleton")
        if skeleton:
            return ["program", skeleton, *rest]
        output, rest = take(words, "--export")
        if output:
            platform, rest = take(rest, "--platform")
            return ["export", *([platform] if platform else []), *rest, "-o", output]
        return ["sweep", *words]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        cls=SimulateGroup,
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in (simulate_sweep, simulate_study, simulate_program, simulate_export, simulate_platforms):
        command.register(group)
    app.add_typer(group, name="simulate", help=HELP)
