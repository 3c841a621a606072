# SPDX-License-Identifier: BSD-3-Clause
"""convene list: the catalogue."""

from typing import Annotated

import typer

from convene import _core, arguments, console
from convene.shapes import Algorithm, Parameter

HELP = """Lists algorithms: source, requirement, rounds, parameters.

[bold]Examples[/bold]

  convene list

  convene list allgatherv

  convene list allgather --json
"""

REQUIREMENTS = {"none": "any P", "even": "even P", "power_of_two": "P = 2^k"}


def _values(parameter: Parameter) -> str:
    if parameter["words"]:
        choice = "|".join(parameter["words"])
        return f"{parameter['name']}={choice}"
    return f"{parameter['name']}={parameter['least']}…{parameter['most']}"


def _parameters(algorithm: Algorithm) -> str:
    return "\n".join(
        f"{_values(parameter)} ({parameter['default']})" for parameter in algorithm["parameters"]
    )


def _print(algorithms: list[Algorithm], title: str) -> None:
    table = console.table(
        title, "algorithm", "needs", "rounds", "parameters (default)", "what it does", "source"
    )
    for algorithm in algorithms:
        needs = REQUIREMENTS.get(algorithm["requirement"], algorithm["requirement"])
        table.add_row(
            algorithm["name"],
            needs,
            algorithm["rounds"],
            _parameters(algorithm),
            algorithm["summary"],
            algorithm["source"],
        )
    output = console.make()
    output.print(table, markup=False)
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
