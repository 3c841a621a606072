# SPDX-License-Identifier: BSD-3-Clause
"""Algorithm parameters as command-line options, derived from the catalogue."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from convene import _core
from convene.base import core_types
from convene.catalogue import algorithms, collectives
from convene.cli.options import choices

PARAMETERS_PANEL = "Parameters of algorithms"


def _parameter_options() -> dict[str, inspect.Parameter]:
    """One option for each parameter name of the catalogue."""
    owners: dict[str, list[tuple[str, core_types.Parameter]]] = {}
    for algorithm in algorithms.known_algorithms(_core.collectives()):
        for parameter in algorithm["parameters"]:
            owner = f"{collectives.family(algorithm['collectives'][0])} {algorithm['name']}"
            owners.setdefault(parameter["name"], []).append((owner, parameter))
    return {name: _option(name, users) for name, users in owners.items()}


def _option(name: str, users: list[tuple[str, core_types.Parameter]]) -> inspect.Parameter:
    summaries = {parameter["summary"]: [] for _, parameter in users}  # type: dict[str, list[str]]
    for owner, parameter in users:
        summaries[parameter["summary"]].append(owner)
    text = "; ".join(f"{', '.join(owners)}: {summary}" for summary, owners in summaries.items())
    words = list(dict.fromkeys(word for _, parameter in users for word in parameter["words"]))
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar=choices(words) if words else "N",
        help=text,
        rich_help_panel=PARAMETERS_PANEL,
        autocompletion=lambda incomplete: [word for word in words if word.startswith(incomplete)],
        show_default=False,
    )
    return inspect.Parameter(
        f"parameter_{name}",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[str | None, option],
    )


def with_parameters(function: Callable[..., None]) -> Callable[..., None]:
    """Adds one option for each parameter of the catalogue to a command. The command receives those that were
    given as `options`: names and values."""
    options = _parameter_options()
    signature = inspect.signature(function)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "options"]

    @functools.wraps(function)
    def command(**arguments: Any) -> None:
        given = {name: arguments.pop(option.name) for name, option in options.items()}
        function(options=[(name, value) for name, value in given.items() if value is not None], **arguments)

    keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*keyword_only, *options.values()]
    )
    command.__annotations__ = {
        **{name: value for name, value in function.__annotations__.items() if name != "options"},
        **{option.name: option.annotation for option in options.values()},
    }
    return command
