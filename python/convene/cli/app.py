# SPDX-License-Identifier: BSD-3-Clause
"""The command line: every module in convene.commands adds its command."""

import importlib
import pkgutil
from typing import Annotated

import typer

from convene import __version__
from convene.cli import commands

# The order in which help names them; others follow.
FIRST = (
    "run",
    "list",
    "show",
    "verify",
    "bench",
    "report",
    "measure",
    "predict",
    "kernel",
    "simulate",
    "cluster",
    "trace",
)

app = typer.Typer(
    name="convene",
    help="MPI collectives as schedules: run programs with them, look at them, check them, measure them.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"convene {__version__}")
        raise typer.Exit


@app.callback()
def _convene(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say the version and stop."),
    ] = False,
) -> None:
    pass


def _place(name: str) -> tuple[int, str]:
    return (FIRST.index(name) if name in FIRST else len(FIRST), name)


for _name in sorted((module.name for module in pkgutil.iter_modules(commands.__path__)), key=_place):
    importlib.import_module(f"convene.cli.commands.{_name}").register(app)
