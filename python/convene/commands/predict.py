# SPDX-License-Identifier: BSD-3-Clause
"""convene predict: what algorithms cost under a model, as times or as an expression."""

from typing import Annotated

import typer
from rich.table import Table

from convene import (
    _core,
    arguments,
    bench,
    console,
    platform_files,
    prediction,
    winner_report,
    winners,
)
from convene._core import RequestError
from convene.platform_files import NONE
from convene.prediction import HOP_BYTES, Prediction, Setting

MODELS = "\n\n".join(f"  {model['name']:<8} {model['summary']}" for model in _core.cost_models())

HELP = f"""Predicts what algorithms cost on a platform, from their schedules.

The model hop_bytes is not a time, but bytes times the distance between nodes. A platform is one that comes \
with Convene, or a file. Its parameters decide; those of the sources are partly assumed, and then it says so.

[bold]Models[/bold]

{MODELS}

[bold]Examples[/bold]

  convene predict allgather --platform metropolis -p 32 --nodes 4 --model taulop

  convene predict allgather --platform metropolis -p 32 --model loggp --mapping cyclic --bytes 8,1KiB,1MiB

  convene predict allgather --algorithms recursive_doubling -p 16 --nodes 4 --expression

  convene predict allgather --compare ring recursive_doubling -p 16 --nodes 1 --transport zero_copy

  convene predict allgather --model hop_bytes -p 64 --nodes 8 --mapping cyclic

  convene predict allgather --platform metropolis -p 2-32 --nodes 4 --bytes 8:1MiB --winners

  convene predict bcast --platform metropolis -p 32 --bytes 1KiB:4MiB:16 --tune
"""

MOST_PROCS = 1 << 16
DEFAULT_SIZES = "8,1KiB,64KiB,1MiB"
MAPPINGS = ("sequential", "cyclic")


def complete_model(incomplete: str) -> list[str]:
    return [name for name in (*_core.models(), HOP_BYTES) if name.startswith(incomplete)]


def choose(collective: str, procs: int, text: str) -> list[str]:
    """The algorithms that were named, or all that can run; the MPI's own have no schedule."""
    chosen = bench.choose_algorithms(collective, procs, text)
    for spec in chosen:
        if spec.startswith("mpi:") or spec == "native":
            raise RequestError(f"{spec} is the MPI library's own algorithm: Convene has no schedule of it")
    if not chosen:
        raise RequestError("--algorithms names none")
    return chosen  # hierarchical ones are refused where the models get their plan, with the nodes


def time_text(seconds: float) -> str:
    """Four digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


def cost_text(model: str, cost: float) -> str:
    return f"{cost:,.0f}" if model == HOP_BYTES else time_text(cost)


def make_table(model: str, sizes: list[int], found: list[Prediction]) -> Table:
    columns = [_core.format_size(size) for size in sizes]
    table = console.table("", "algorithm", *columns, numbers=tuple(columns))
    best = prediction.best_of(found, sizes)
    for one in found:
        cells = [cost_text(model, cost) for cost in one.costs]
        marked = [f"[green]{c}[/green]" if best[i] == one.spec else c for i, c in enumerate(cells)]
        table.add_row(one.spec, *marked)
    return table


def concerns(line: str, model: str) -> bool:
    """Whether what was assumed is about this model; lines about one model begin with its parameters' name."""
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


def parse_transport(text: str | None) -> tuple[str, str]:
    """How messages travel in memory and in the network: "zero_copy", "rdma", "segments,rdma"."""
    memory, network = "copy_in_copy_out", "copies"
    for word in (text or "").split(","):
        if word in ("copies", "rdma"):
            network = word
        elif word:
            memory = word
    return memory, network


def print_expressions(
    setting: Setting, specs: list[str], transport: tuple[str, str], latex: bool, json: bool
) -> None:
    platform = setting.platform
    found = [
        {
            "algorithm": spec,
            **_core.expression(
                *setting.placed(spec), platform.text, platform.origin, *transport, latex, setting.packed
            ),
        }
        for spec in specs
    ]
    if json:
        console.print_json(found)
        return
    for one in found:
        print(f"{one['algorithm']}:\n  {one['stages']}\n  = {one['sum']}")


def relation_of(setting: Setting, first: str, second: str, transport: tuple[str, str]) -> tuple[str, bool]:
    """How two costs relate, and whether that holds only where the network is no faster than memory."""
    platform = setting.platform
    where = (*setting.placed("")[2:], platform.text, platform.origin, *transport)
    for farther_is_slower in (False, True):
        relation = _core.compare(setting.collective, first, second, *where, farther_is_slower)
        if relation != "?":
            return relation, farther_is_slower
    return "?", False


def print_comparison(setting: Setting, pair: tuple[str, str], transport: tuple[str, str], json: bool) -> None:
    first, second = (_core.spec(setting.collective, name) for name in pair)
    for spec in (first, second):
        why = _core.unmet(setting.collective, spec, setting.procs, setting.machine, setting.mapping)
        if why:
            raise RequestError(f"{setting.collective} algorithm {spec} {why}, not {setting.procs}")
    relation, conditional = relation_of(setting, first, second, transport)
    if json:
        found = {"first": first, "second": second, "relation": relation, "if_memory_is_faster": conditional}
        console.print_json(found)
    elif relation == "?":
        print(f"{first} ? {second}: which one costs more depends on the machine")
    else:
        where = "where the network is no faster than memory" if conditional else "on every machine"
        print(f"{first} {relation} {second}, {where} (transfers only, without overheads and copies)")


def check_root(collective: str, root: str | None, procs: int) -> int:
    if root is None:
        return 0
    if not _core.is_rooted(collective):
        raise RequestError(f"{collective} has no root; leave out --root {root}")
    return arguments.parse_number(root, "--root", 0, procs - 1)


def check_alone(**wanted: bool) -> None:
    """These show different things."""
    given = [f"--{name}" for name, is_wanted in wanted.items() if is_wanted]
    if len(given) > 1:
        raise RequestError(f"{' and '.join(given)} show different things; take one of them")


def parse_procs(text: str, several: bool) -> list[int]:
    if several:
        return arguments.parse_numbers(text, "--procs", 1, MOST_PROCS)
    return [arguments.parse_number(text, "--procs", 1, MOST_PROCS)]


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
                    {"procs": row.procs, "winners": [winner_report.winner_json(one) for one in row.winners]}
                    for row in rows
                ],
            }
        )
    name = f" of {settings[0].platform.facts['name']}" if settings[0].platform is not NONE else ""
    what = f"{collective}, {settings[0].mapping}: winners under {model}{name}"
    return winner_report.print_map(what, rows, sizes)


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
    return winner_report.print_crossovers(title(setting, model), first, found)


def print_tuned(setting: Setting, specs: list[str], model: str, sizes: list[int], json: bool) -> None:
    found = winners.tuned(setting, specs, model, sizes)
    if json:
        best = {
            name: [{"best": one.spec, "cost": one.costs[0]} for one in each] for name, each in found.items()
        }
        return console.print_json({"sizes": sizes, "model": model, "algorithms": best})
    return winner_report.print_tuned(title(setting, model), found, sizes, lambda cost: cost_text(model, cost))


def print_mappings(setting: Setting, specs: list[str], model: str, sizes: list[int], json: bool) -> None:
    found = winners.by_mapping(setting, specs, model, sizes)
    if json:
        costs = {mapping: {one.spec: one.costs for one in each} for mapping, each in found.items()}
        return console.print_json({"sizes": sizes, "model": model, "mappings": costs})
    return winner_report.print_mappings(
        title(setting, model), found, sizes, lambda cost: cost_text(model, cost)
    )


def predict(
    context: typer.Context,
    collective: arguments.Collective,
    procs: Annotated[str, typer.Option("-p", "--procs", metavar="P", help="Number of processes.")],
    algorithms: Annotated[
        str,
        typer.Option(
            "-a",
            "--algorithms",
            metavar="LIST",
            help="As in 'ring,sparbit;send=packed'.",
            autocompletion=arguments.complete_algorithms,
        ),
    ] = "all",
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Whose parameters: a platform that comes with Convene, or a file.",
            autocompletion=platform_files.complete,
        ),
    ] = None,
    model: Annotated[
        str, typer.Option("-m", "--model", metavar="NAME", help="Which model.", autocompletion=complete_model)
    ] = "taulop",
    nodes: Annotated[
        str | None, typer.Option(metavar="N", help="Number of nodes; each has as many cores as are needed.")
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(metavar="MACHINE", help='As in "node:4 core:8". Default: the platform\'s own.'),
    ] = None,
    mapping: Annotated[
        str,
        typer.Option(
            metavar="sequential|cyclic|LIST",
            help="Which rank sits where; 0,0,1,1 lists nodes.",
            autocompletion=lambda incomplete: [name for name in MAPPINGS if name.startswith(incomplete)],
        ),
    ] = "sequential",
    bytes: Annotated[  # noqa: A002
        str,
        typer.Option(
            "--bytes",
            metavar="SIZES",
            help="Per block (bcast, reduce, allreduce, scan: of the vector), as in 8,4KiB or 8:1MiB.",
        ),
    ] = DEFAULT_SIZES,
    root: Annotated[
        str | None, typer.Option(metavar="R", help="The root, for collectives that have one.")
    ] = None,
    expression: Annotated[
        bool, typer.Option("--expression", help="τ-Lop's cost as an expression; needs no platform.")
    ] = False,
    latex: Annotated[bool, typer.Option("--latex", help="The expression for LaTeX.")] = False,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B", help="Which costs more under τ-Lop on every machine, if that can be said."
        ),
    ] = None,
    transport: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="Expressions: copy_in_copy_out, zero_copy, buffered or segments in memory; "
            "copies or rdma in the network.",
        ),
    ] = None,
    packed: Annotated[
        bool,
        typer.Option(
            "--packed",
            help="The program's data does not lie in one piece, as with a vector type: with τ-Lop's p for "
            "packing before and unpacking behind.",
        ),
    ] = False,
    show_winners: Annotated[
        bool, typer.Option("--winners", help="The cheapest algorithm for each number of processes and size.")
    ] = False,
    show_crossovers: Annotated[
        bool, typer.Option("--crossovers", help="From how many bytes on which algorithm is the cheapest.")
    ] = False,
    show_tuned: Annotated[
        bool, typer.Option("--tune", help="Each algorithm with its best parameters, size by size.")
    ] = False,
    show_mappings: Annotated[
        bool,
        typer.Option(
            "--mappings", help="The cost of the sequential and the cyclic mapping, and of --mapping."
        ),
    ] = False,
    json: arguments.Json = False,
) -> None:
    name = arguments.check_collective(collective)
    check_alone(
        winners=show_winners,
        crossovers=show_crossovers,
        tune=show_tuned,
        mappings=show_mappings,
        expression=expression,
        compare=compare is not None,
    )
    numbers = parse_procs(procs, several=show_winners)
    file = platform_files.load(platform) if platform else NONE

    def setting_of(number: int) -> Setting:
        count = None if nodes is None else arguments.parse_number(nodes, "--nodes", 1, max(numbers))
        where = prediction.machine_of(number, count, machine, mapping, file)
        return Setting(name, number, check_root(name, root, number), where, mapping, file, packed)

    number = numbers[-1]
    setting = setting_of(number)
    if latex and not expression:
        raise RequestError("--latex is for --expression")
    if transport and not (expression or compare):
        raise RequestError("--transport is for --expression and --compare; elsewhere the platform says it")
    if compare or expression:
        shown = "--compare" if compare else "--expression"
        arguments.refuse(context, ["model", "bytes"], f"{shown}, which is τ-Lop's for any size")
    if compare:
        arguments.refuse(context, ["packed"], "--compare, which is about transfers only")
        arguments.refuse(context, ["algorithms"], "--compare, which names two")
        return print_comparison(setting, compare, parse_transport(transport), json)
    if expression:
        specs = choose(name, number, algorithms)
        return print_expressions(setting, specs, parse_transport(transport), latex, json)
    if packed and model != "taulop":
        raise RequestError(f"--packed is for --model taulop, which alone has a cost of packing, not {model}")
    known = [*_core.models(), HOP_BYTES]
    if model not in known:
        raise RequestError(_core.no_such("model", model, known))
    if file is NONE and model != HOP_BYTES:
        known = platform_files.names()
        raise RequestError(f"a time needs parameters: --platform {'|'.join(known)}, or a file")
    if name == "barrier":
        arguments.refuse(context, ["bytes"], "a barrier, which has no data")
    sizes = [0] if name == "barrier" else bench.parse_sizes(bytes, "--bytes")
    if show_winners:
        return print_winners([setting_of(one) for one in numbers], algorithms, model, sizes, json)
    specs = choose(name, number, algorithms)
    if show_crossovers:
        return print_crossovers(setting, specs, model, sizes, json)
    if show_tuned:
        return print_tuned(setting, specs, model, sizes, json)
    if show_mappings:
        return print_mappings(setting, specs, model, sizes, json)
    found = prediction.predict(setting, specs, model, sizes)
    if json:
        return console.print_json(prediction.as_json(setting, model, sizes, found))
    return print_times(setting, model, sizes, found)


def register(app: typer.Typer) -> None:
    app.command("predict", help=HELP)(predict)
