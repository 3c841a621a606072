# SPDX-License-Identifier: BSD-3-Clause
"""Tables of winners, crossover points, best parameters and mappings."""

from collections.abc import Callable

from rich.table import Table

from convene.base import console
from convene.base.result_types import Json
from convene.base.text import bytes_text
from convene.model.prediction import Prediction
from convene.model.winners import Crossover, Row, Winner, letters

CostText = Callable[[float], str]


def map_table(rows: list[Row], sizes: list[int]) -> Table:
    """A letter for the winner at each number of processes and size, with a legend."""
    heads = [bytes_text(size) for size in sizes]
    table = console.table("", "P", *heads, numbers=("P",))
    names = letters(rows)
    for row in rows:
        table.add_row(str(row.procs), *(names[winner.spec] for winner in row.winners))
    return table


def map_text(rows: list[Row], sizes: list[int], width: int) -> str:
    """The map as plain columns, if a table is too wide: one letter each, sizes named at the ends."""
    names = letters(rows)
    lines = []
    step = max(1, width - 8)
    for begin in range(0, len(sizes), step):
        part = slice(begin, begin + step)
        ends = f"{bytes_text(sizes[part][0])} … {bytes_text(sizes[part][-1])}"
        lines.append(f"{'P':>6}  {ends}")
        lines += [
            f"{row.procs:>6}  {''.join(names[each.spec] for each in row.winners[part])}" for row in rows
        ]
    return "\n".join(lines)


MOST_COLUMNS = 12
MOST_LETTERS = 16  # of a mapping's name


def print_map(title: str, rows: list[Row], sizes: list[int]) -> None:
    output = console.make()
    output.print(title, style="bold", markup=False)
    if len(sizes) <= MOST_COLUMNS:
        output.print(map_table(rows, sizes))
    else:
        print(map_text(rows, sizes, output.width))
    for spec, letter in letters(rows).items():
        number = sum(winner.spec == spec for row in rows for winner in row.winners)
        output.print(f"{letter}  {spec}, {number} of {len(rows) * len(sizes)}", markup=False)


def print_crossovers(title: str, first: str, found: list[Crossover]) -> None:
    output = console.make()
    output.print(title, style="bold", markup=False)
    output.print(f"first {first}", markup=False)
    for one in found:
        output.print(f"from {bytes_text(one.at)} on {one.after}", markup=False)


def print_tuned(
    title: str, tuned: dict[str, list[Prediction]], sizes: list[int], cost_text: CostText
) -> None:
    output = console.make()
    output.print(title, style="bold", markup=False)
    table = console.table("", "bytes", "best", "cost", numbers=("bytes", "cost"))
    for i, size in enumerate(sizes):
        for place, found in enumerate(
            sorted((each[i] for each in tuned.values()), key=lambda one: one.costs[0])
        ):
            table.add_row(bytes_text(size) if place == 0 else "", found.spec, cost_text(found.costs[0]))
        table.add_section()
    output.print(table)


def print_mappings(
    title: str, found: dict[str, list[Prediction]], sizes: list[int], cost_text: CostText
) -> None:
    output = console.make()
    output.print(title, style="bold", markup=False)
    heads = [bytes_text(size) for size in sizes]
    table = console.table("", "algorithm", "mapping", *heads, numbers=heads, keys=2)
    first = next(iter(found.values()))
    for each in first:
        for mapping, predictions in found.items():
            costs = next(one.costs for one in predictions if one.spec == each.spec)
            name = each.spec if predictions is first else ""
            where = mapping if len(mapping) <= MOST_LETTERS else "given"
            table.add_row(name, where, *(cost_text(cost) for cost in costs))
    output.print(table)


def winner_json(winner: Winner) -> Json:
    return {"algorithm": winner.spec, "cost": winner.cost, "runner_up": winner.runner_up}
