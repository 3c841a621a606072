# SPDX-License-Identifier: BSD-3-Clause
"""convene list: the catalogue."""

from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from convene import _core, arguments, console
from convene.shapes import Algorithm, Parameter

HELP = """Lists algorithms: source, requirement, rounds, parameters.

[bold]Examples[/bold]

  convene list

  convene list allgatherv

  convene list allgather --json
"""

REQUIREMENTS = {"none": "any P", "even": "even P", "power_of_two": "P = 2^k"}


def _parameter(parameter: Parameter) -> str:
    values = "|".join(parameter["words"]) or f"{parameter['least']}…{parameter['most']}"
    return f"{parameter['name']}={values}, default {parameter['default']}: {parameter['summary']}"


def _print(algorithms: list[Algorithm], title: str) -> None:
    output = console.make()
    output.print(title, style="bold")
    for algorithm in algorithms:
        needs = REQUIREMENTS.get(algorithm["requirement"], algorithm["requirement"])
        learns = "; uses a forecast of arrivals" if algorithm["learns"] == "forecast" else ""
        output.print(f"\n[bold cyan]{algorithm['name']}[/]  {needs}; rounds: {algorithm['rounds']}{learns}")
        lines = [algorithm["summary"], *map(_parameter, algorithm["parameters"]), algorithm["source"]]
        for line in lines:
            style = "dim" if line == algorithm["source"] else None
            output.print(Padding(Text(line), (0, 0, 0, 4)), style=style)
    output.print("\nconvene show COLLECTIVE ALGORITHM -p P shows a schedule.", style="dim")


def list_algorithms(
    collective: Annotated[
        str | None,
        typer.Argument(
            metavar="[COLLECTIVE]", help="Only this one's.", autocompletion=arguments.complete_collective
        ),
    ] = None,
    json: arguments.Json = False,
) -> None:
    names = [arguments.check_collective(collective)] if collective else _core.collectives()
    algorithms = arguments.known_algorithms(names)
    if json:
        console.print_json(algorithms)
    else:
        _print(algorithms, f"Algorithms of {' and '.join(names)}")


def register(app: typer.Typer) -> None:
    app.command("list", help=HELP)(list_algorithms)
