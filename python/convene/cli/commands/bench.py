# SPDX-License-Identifier: BSD-3-Clause
"""convene bench: compares algorithms of collectives by measurement."""

import typer

from convene.cli.commands import bench_run, bench_study
from convene.cli.renamed import RenamingGroup, take

HELP = """Measures collectives on this machine: compares Convene's and native algorithms in one run.

[bold]Examples[/bold]

  convene bench run allgather -n 8 --sizes 8:1MiB:8 -o run.json

  convene bench study allgatherv -o allgatherv.json
"""


class BenchGroup(RenamingGroup):
    """`convene bench COLLECTIVE` and `convene bench --study NAME` are old."""

    def translate(self, words: list[str]) -> list[str]:
        study, rest = take(words, "--study")
        return ["study", study, *rest] if study else ["run", *words]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        cls=BenchGroup,
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    bench_run.register(group)
    bench_study.register(group)
    app.add_typer(group, name="bench", help=HELP)
