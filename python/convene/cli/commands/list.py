# SPDX-License-Identifier: BSD-3-Clause
"""convene list: the catalogue of algorithms."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from convene import _core
from convene.base import console
from convene.base.core_types import Algorithm, Parameter
from convene.base.tables import SPACE, fold
from convene.catalogue import algorithms, collectives
from convene.cli import completion, options

HELP = """Lists the algorithms with their sources, requirements, rounds and parameters.

[bold]Examples[/bold]

  convene list

  convene list bcast

  convene list allgather --json
"""

ARRIVAL_SOURCES = {
    "none": "",
    "forecast": "; uses a forecast of arrivals",
    "messages": "; exchanges arrivals as it runs",
}

INDENT = "    "  # of the lines below a name
REQUIREMENTS = {"none": "any P", "even": "even P", "power_of_two": "P = 2^k"}


def _parameter(parameter: Parameter) -> str:
    values = "|".join(parameter["words"]) or f"{parameter['least']}…{parameter['most']}"
    return f"{parameter['name']}={values}, default {parameter['default']}: {parameter['summary']}"


def _usage(algorithm: Algorithm) -> str:
    """The algorithm's name; for a composition with the names of its parts."""
    parts = ",".join(part["name"].upper() for part in algorithm["parts"])
    return f"{algorithm['name']}({parts})" if parts else algorithm["name"]


def _print_one(output: Console, algorithm: Algorithm, served: list[str]) -> None:
    needs = REQUIREMENTS.get(algorithm["requirement"], algorithm["requirement"])
    if algorithm["parts"]:
        needs = "requirements of its parts, and the mapping of ranks to nodes"
    if algorithm["shares_memory"]:
        needs += " on one node"
    if algorithm["commutative_only"]:
        needs += ", a commutative operator"
    some = [name for name in served if name in algorithm["collectives"]]
    only = "" if some == served else f"; only {', '.join(some)}"
    source = ARRIVAL_SOURCES[algorithm["arrival_source"]]
    head = Text.assemble((_usage(algorithm), "bold cyan"), "  ", needs)
    head.append(f"; rounds: {algorithm['rounds']}{source}{only}")
    output.print()
    for part in fold(head, console.text_width(), SPACE):
        output.print(part, soft_wrap=True)
    parts = [
        f"{part['name'].upper()}, of {part['collective']}, default {part['default']}: {part['summary']}"
        for part in algorithm["parts"]
    ]
    lines = [algorithm["summary"], *parts, *map(_parameter, algorithm["parameters"]), algorithm["source"]]
    for line in lines:
        style = "dim" if line == algorithm["source"] else None
        for part in fold(Text(line), console.text_width() - len(INDENT), SPACE):
            output.print(Text(INDENT) + part, style=style, soft_wrap=True)


def _print(names: list[str]) -> None:
    """Prints the algorithms by collective, and the native ones once."""
    output = console.make()
    for served in collectives.families(names).values():
        output.print(f"Algorithms of {' and '.join(served)}", style="bold")
        for algorithm in algorithms.known_algorithms(served):
            if not algorithm["native"]:
                _print_one(output, algorithm, served)
        output.print()
    output.print("Native algorithms", style="bold")
    for algorithm in algorithms.known_algorithms(names):
        if algorithm["native"]:
            _print_one(output, algorithm, [])
    output.print("\nconvene show COLLECTIVE ALGORITHM -p P shows a schedule.", style="dim")


def list_algorithms(
    collective: Annotated[
        str | None,
        typer.Argument(
            metavar="[COLLECTIVE]",
            help="List algorithms of this collective only.",
            autocompletion=completion.complete_collective,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    names = [collectives.check_collective(collective)] if collective is not None else _core.collectives()
    if json:
        known = algorithms.known_algorithms(names)
        # "learns" is the name of arrival_source before 0.2; scripts may read it for one more release.
        console.print_json([{**each, "learns": each["arrival_source"]} for each in known])
    else:
        _print(names)


def register(app: typer.Typer) -> None:
    app.command("list", help=HELP)(list_algorithms)
