# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from convene._core import RequestError
from convene.cli import completion
from convene.mpi import stacks


def refuse(context: typer.Context, names: Iterable[str], what: str) -> None:
    """Refuses parameters of these names that were given, since they do not go with `what`."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in names and source and source.name == "COMMANDLINE":
            written = parameter.opts[-1] if parameter.param_type_name == "option" else name.upper()
            raise RequestError(f"{written} does not go with {what}; leave it out")


Collective = Annotated[
    str,
    typer.Argument(
        metavar="COLLECTIVE",
        help="Such as allgather or bcast.",
        autocompletion=completion.complete_collective,
    ),
]

Algorithm = Annotated[
    str,
    typer.Argument(
        metavar="ALGORITHM",
        help="Such as sparbit, or with parameters 'sparbit;send=packed'.",
        autocompletion=completion.complete_algorithm,
    ),
]


def stack_option(meaning: str) -> Any:
    """The option --stack, with a help of its own."""
    return typer.Option(
        metavar="|".join(stacks.STACKS),
        help=meaning,
        autocompletion=lambda incomplete: [name for name in stacks.STACKS if name.startswith(incomplete)],
    )


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
