# SPDX-License-Identifier: BSD-3-Clause
"""The application: its name, its help, its commands."""

from typing import Annotated

import typer

from convene import __version__
from convene.cli.lazy import LazyGroup

app = typer.Typer(
    name="convene",
    cls=LazyGroup,
    help="MPI collective algorithms: run programs with them; show, verify, measure, predict and simulate "
    "them.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"convene {__version__}")
        raise typer.Exit


@app.callback(
    epilog="[bold]Examples[/bold]\n\n"
    "  convene run --use allgather=sparbit -- mpirun -n 8 ./app\n\n"
    "  convene list allgather\n\n"
    "Exit status: 0 done, 1 something failed, 2 the request was wrong."
)
def _convene(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass
