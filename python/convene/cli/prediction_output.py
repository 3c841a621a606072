# SPDX-License-Identifier: BSD-3-Clause
"""Predictions on the terminal: costs, expressions, winners."""

from rich.table import Table

from convene import _core
from convene._core import RequestError
from convene.base import console
from convene.base.text import bytes_text
from convene.model import prediction, winner_tables, winners
from convene.model.platform_files import NONE
from convene.model.prediction import HOP_BYTES, Prediction, Setting


def time_text(seconds: float) -> str:
    """Four digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


def cost_text(model: str, cost: float) -> str:
    return f"{cost:,.0f}" if model == HOP_BYTES else time_text(cost)


def make_table(model: str, sizes: list[int], found: list[Prediction]) -> Table:
    columns = [bytes_text(size) for size in sizes]
    table = console.table("", "algorithm", *columns, numbers=tuple(columns))
    best = prediction.best_of(found, sizes)
    for one in found:
        cells = [cost_text(model, cost) for cost in one.costs]
        marked = [f"[green]{c}[/green]" if best[i] == one.spec else c for i, c in enumerate(cells)]
        table.add_row(one.spec, *marked)
    return table


def concerns(line: str, model: str) -> bool:
    """Whether an assumption concerns this model; lines on one model begin with the name of its parameters."""
    subject = line.replace(":", ",").split(",")[0]
    parameters = {each["name"]: each["parameters"] for each in _core.cost_models()}
    return subject not in parameters or subject == parameters.get(model, model)


def title(setting: Setting, model: str) -> str:
    platform = f" of {setting.platform.facts['name']}" if setting.platform is not NONE else ""
    what = "byte hops" if model == HOP_BYTES else f"{model}{platform}{', packed' if setting.packed else ''}"
    return f"{setting.collective}, {setting.procs} processes on {setting.machine}, {setting.mapping}: {what}"


def print_times(setting: Setting, model: str, sizes: list[int], found: list[Prediction]) -> None:
    output = console.make()
    output.print(title(setting, model), style="bold", markup=False)
    output.print(make_table(model, sizes, found))
    if setting.platform is not NONE:
        for line in (line for line in setting.platform.facts["assumed"] if concerns(line, model)):
            output.print(f"assumed: {line}", style="dim", markup=False)


def print_expressions(
    setting: Setting, specs: list[str], transport: tuple[str, str], latex: bool, json: bool
) -> None:
    platform = setting.platform.if_given
    found = [
        {
            "algorithm": spec,
            **_core.expression(setting.request(spec), platform, transport, latex, setting.packed),
        }
        for spec in specs
    ]
    if json:
        console.print_json(found)
        return
    for one in found:
        print(f"{one['algorithm']}:\n  {one['stages']}\n  = {one['sum']}")


def relation_of(setting: Setting, first: str, second: str, transport: tuple[str, str]) -> tuple[str, bool]:
    """The relation of two costs, and whether it holds only if the network is no faster than memory."""
    pair = setting.request(first), setting.request(second)
    platform = setting.platform.if_given
    for farther_is_slower in (False, True):
        relation = _core.compare(*pair, platform, transport, farther_is_slower)
        if relation != "?":
            return relation, farther_is_slower
    return "?", False


def print_comparison(setting: Setting, pair: tuple[str, str], transport: tuple[str, str], json: bool) -> None:
    first, second = (_core.spec(setting.collective, name) for name in pair)
    for spec in (first, second):
        why = _core.unmet(setting.collective, spec, setting.procs, setting.machine, setting.mapping)
        if why:
            raise RequestError(
                f"{setting.collective} algorithm {spec} {why}; the call has {setting.procs} processes on "
                f"{setting.machine}, {setting.mapping}"
            )
    relation, conditional = relation_of(setting, first, second, transport)
    if json:
        found = {"first": first, "second": second, "relation": relation, "if_memory_is_faster": conditional}
        console.print_json(found)
    elif relation == "?":
        console.say(f"{first} ? {second}: which one costs more depends on the machine")
    else:
        where = "if the network is no faster than memory" if conditional else "on every machine"
        console.say(f"{first} {relation} {second}, {where} (transfers only, without overheads and copies)")


def print_winners(settings: list[Setting], algorithms: str, model: str, sizes: list[int], json: bool) -> None:
    collective = settings[0].collective
    rows = winners.winner_map(settings, winners.can_run(collective, algorithms), model, sizes)
    if json:
        return console.print_json(
            {
                "collective": collective,
                "model": model,
                "sizes": sizes,
                "rows": [
                    {"procs": row.procs, "winners": [winner_tables.winner_json(one) for one in row.winners]}
                    for row in rows
                ],
            }
        )
    name = f" of {settings[0].platform.facts['name']}" if settings[0].platform is not NONE else ""
    what = f"{collective}, {settings[0].mapping}: winners under {model}{name}"
    return winner_tables.print_map(what, rows, sizes)


def print_crossovers(setting: Setting, specs: list[str], model: str, sizes: list[int], json: bool) -> None:
    sizes = sorted(sizes)
    found = winners.crossovers(setting, specs, model, sizes)
    first = prediction.best_of(prediction.predict(setting, specs, model, sizes[:1]), sizes[:1])[0]
    if json:
        changes = [{"bytes": one.at, "algorithm": one.after} for one in found]
        return console.print_json(
            {"collective": setting.collective, "procs": setting.procs, "model": model, "first": first}
            | {"changes": changes}
        )
    return winner_tables.print_crossovers(title(setting, model), first, found)


def print_tuned(setting: Setting, specs: list[str], model: str, sizes: list[int], json: bool) -> None:
    found = winners.tuned(setting, specs, model, sizes)
    if json:
        best = {
            name: [{"best": one.spec, "cost": one.costs[0]} for one in each] for name, each in found.items()
        }
        return console.print_json({"sizes": sizes, "model": model, "algorithms": best})
    return winner_tables.print_tuned(title(setting, model), found, sizes, lambda cost: cost_text(model, cost))


def print_mappings(setting: Setting, specs: list[str], model: str, sizes: list[int], json: bool) -> None:
    found = winners.by_mapping(setting, specs, model, sizes)
    if json:
        costs = {mapping: {one.spec: one.costs for one in each} for mapping, each in found.items()}
        return console.print_json({"sizes": sizes, "model": model, "mappings": costs})
    return winner_tables.print_mappings(
        title(setting, model), found, sizes, lambda cost: cost_text(model, cost)
    )
