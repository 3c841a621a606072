# SPDX-License-Identifier: BSD-3-Clause
"""convene predict: costs of algorithms under a model, as times or as expressions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.catalogue import collectives, schedule_files, selection
from convene.cli import completion, prediction_output
from convene.cli.groups import grouped
from convene.cli.options import Collective, Json, Schedules, check_root, complete, refuse, refuse_empty
from convene.model import platform_files, prediction
from convene.model.platform_files import NONE, PlatformFile
from convene.model.prediction import HOP_BYTES, Setting

MODELS = "\n\n".join(f"  {model['name']:<8} {model['summary']}" for model in _core.cost_models())

HELP = f"""Predicts the costs of algorithms on a platform with a cost model, from their schedules.

A platform is a file of model parameters: one that comes with Convene, or the output of convene measure. The \
output lists parameters that are assumed. The model hop_bytes is not a time: it sums bytes times distance \
between nodes.

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

  convene predict allgather --platform metropolis -p 8 --nodes 2 --schedule mine.json --algorithms ring
"""

MOST_PROCS = 1 << 16
DEFAULT_SIZES = "8,1KiB,64KiB,1MiB"
MAPPINGS = ("sequential", "cyclic")
NETWORK = ("copies", "rdma")  # words of --transport for the network; others are for memory


def complete_model(incomplete: str) -> list[str]:
    return [name for name in (*_core.models(), HOP_BYTES) if name.startswith(incomplete)]


@dataclass(frozen=True)
class Place:
    """Platform: parameters, nodes, mapping."""

    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Platform with the model parameters: a name or a file.",
            autocompletion=platform_files.complete,
        ),
    ] = None
    nodes: Annotated[
        str | None, typer.Option(metavar="N", help="Number of nodes, with as many cores as needed.")
    ] = None
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="MACHINE", help='Machine, as in "node:4 core:8". Default: that of the platform.'
        ),
    ] = None
    mapping: Annotated[
        str,
        typer.Option(
            metavar="sequential|cyclic|LIST",
            help="Mapping of ranks to nodes; 0,0,1,1 names the node of each rank.",
            autocompletion=complete(MAPPINGS),
        ),
    ] = "sequential"


@dataclass(frozen=True)
class Calls:
    """Calls: algorithms, sizes, root, model."""

    algorithms: Annotated[
        str,
        typer.Option(
            "-a",
            "--algorithms",
            metavar="LIST",
            help="Algorithms, as in 'ring,sparbit;send=packed'.",
            autocompletion=completion.complete_algorithms,
        ),
    ] = "all"
    schedules: Schedules = None
    model: Annotated[
        str, typer.Option("-m", "--model", metavar="NAME", help="Cost model.", autocompletion=complete_model)
    ] = "taulop"
    bytes: Annotated[
        str,
        typer.Option(
            "--bytes",
            metavar="SIZES",
            help="Bytes per block (bcast, reduce, allreduce, scan, exscan: of the vector): a list 8,4KiB or "
            "a range 8:1MiB, which doubles; 8:1MiB:4 multiplies by 4.",
        ),
    ] = DEFAULT_SIZES
    root: Annotated[str | None, typer.Option(metavar="R", help="Root rank of a rooted collective.")] = None
    packed: Annotated[
        bool,
        typer.Option(
            "--packed",
            help="Assume non-contiguous data: add τ-Lop's p(m) for packing and unpacking.",
        ),
    ] = False


@dataclass(frozen=True)
class Views:
    """Views: output in place of the table of costs."""

    show_winners: Annotated[
        bool,
        typer.Option("--winners", help="Show the cheapest algorithm for each number of processes and size."),
    ] = False
    show_crossovers: Annotated[
        bool, typer.Option("--crossovers", help="Show the sizes at which the cheapest algorithm changes.")
    ] = False
    show_tuned: Annotated[
        bool, typer.Option("--tune", help="Show each algorithm with its best parameters for each size.")
    ] = False
    show_mappings: Annotated[
        bool,
        typer.Option(
            "--mappings", help="Compare the sequential and the cyclic mapping, and that of --mapping."
        ),
    ] = False
    expression: Annotated[
        bool,
        typer.Option("--expression", help="Show the cost under τ-Lop as an expression; needs no platform."),
    ] = False
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Prove which of two algorithms costs more under τ-Lop on every machine, if that can be "
            "decided.",
        ),
    ] = None
    latex: Annotated[bool, typer.Option("--latex", help="Write the expression for LaTeX.")] = False
    transport: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="Transport of messages in expressions: copy_in_copy_out, zero_copy, buffered or segments in "
            "memory; copies or rdma in the network.",
        ),
    ] = None

    @property
    def is_symbolic(self) -> bool:
        return self.expression or self.compare is not None

    def check(self, *, has_schedules: bool) -> None:
        wanted = {
            "--winners": self.show_winners,
            "--crossovers": self.show_crossovers,
            "--tune": self.show_tuned,
            "--mappings": self.show_mappings,
            "--expression": self.expression,
            "--compare": self.compare is not None,
        }
        given = [option for option, is_wanted in wanted.items() if is_wanted]
        if len(given) > 1:
            raise RequestError(f"{' and '.join(given)} are different views; give one of them")
        if has_schedules and (self.show_winners or self.show_tuned or self.compare):
            raise RequestError(
                f"--schedule cannot be combined with {given[0]}, which compares algorithms; leave it out"
            )
        if self.latex and not self.expression:
            raise RequestError("--latex is for --expression")
        if self.transport is not None and not self.is_symbolic:
            raise RequestError(
                "--transport is for --expression and --compare; otherwise the platform defines it"
            )


@grouped
def predict(
    context: typer.Context,
    collective: Collective,
    procs: Annotated[
        str,
        typer.Option(
            "-p", "--procs", metavar="P", help="Number of processes; with --winners also several, as in 2-32."
        ),
    ],
    calls: Calls,
    place: Place,
    views: Views,
    json: Json = False,
) -> None:
    name = collectives.check_collective(collective)
    views.check(has_schedules=bool(calls.schedules))
    numbers = parse_procs(procs, several=views.show_winners)
    platform = NONE if place.platform is None else platform_files.load(place.platform)
    settings = [make_setting(name, number, numbers, platform, place, calls) for number in numbers]
    if views.is_symbolic:
        show_symbolic(context, settings[-1], calls, views, json)
    else:
        show_costs(context, settings, calls, views, json)


def make_setting(
    collective: str, procs: int, numbers: list[int], platform: PlatformFile, place: Place, calls: Calls
) -> Setting:
    count = None if place.nodes is None else parsing.parse_number(place.nodes, "--nodes", 1, max(numbers))
    where = prediction.machine_of(procs, count, place.machine, place.mapping, platform)
    root = check_root(collective, calls.root, procs)
    schedules = schedule_files.load_correct(calls.schedules, collective)
    for each in schedules:
        schedule_files.require_procs(each, [procs])
        schedule_files.require_root(each, root)
    return Setting(collective, procs, root, where, place.mapping, platform, calls.packed, tuple(schedules))


def show_symbolic(context: typer.Context, setting: Setting, calls: Calls, views: Views, json: bool) -> None:
    """Shows an expression, or the relation of two."""
    shown = "--compare" if views.compare else "--expression"
    refuse(context, ["model", "bytes"], f"{shown}, which uses τ-Lop and any size")
    transport = parse_transport(views.transport)
    if views.compare:
        refuse(context, ["packed"], "--compare, which considers transfers only")
        refuse(context, ["algorithms"], "--compare, which names two algorithms")
        prediction_output.print_comparison(setting, views.compare, transport, json)
        return
    specs = choose(setting, calls.algorithms)
    prediction_output.print_expressions(setting, specs, transport, views.latex, json)


def show_costs(
    context: typer.Context, settings: list[Setting], calls: Calls, views: Views, json: bool
) -> None:
    """Shows costs, or a view of them."""
    setting, model = settings[-1], calls.model
    check_model(model, setting)
    if setting.collective == "barrier":
        refuse(context, ["bytes"], "a barrier, which has no data")
    sizes = [0] if setting.collective == "barrier" else parsing.parse_sizes(calls.bytes, "--bytes")
    if views.show_winners:
        prediction_output.print_winners(settings, calls.algorithms, model, sizes, json)
        return
    specs = choose(setting, calls.algorithms)
    view = chosen_view(views)
    if view:
        view(setting, specs, model, sizes, json)
        return
    found = prediction.predict(setting, specs, model, sizes)
    if json:
        console.print_json(prediction.as_json(setting, model, sizes, found))
    else:
        prediction_output.print_times(setting, model, sizes, found)


View = Callable[[Setting, list[str], str, list[int], bool], None]


def chosen_view(views: Views) -> View | None:
    if views.show_crossovers:
        return prediction_output.print_crossovers
    if views.show_tuned:
        return prediction_output.print_tuned
    return prediction_output.print_mappings if views.show_mappings else None


def check_model(model: str, setting: Setting) -> None:
    if setting.packed and model != "taulop":
        raise RequestError(f"--packed is for --model taulop; {model} has no cost of packing")
    known = [*_core.models(), HOP_BYTES]
    if model not in known:
        raise RequestError(_core.no_such("model", model, known))
    if setting.platform is NONE and model != HOP_BYTES:
        known = platform_files.names()
        raise RequestError(
            f"a prediction of times needs model parameters; give --platform {'|'.join(known)} or a file"
        )


def choose(setting: Setting, text: str) -> list[str]:
    """The named algorithms, or all that support the number of ranks, and schedules from files. Native
    algorithms have no schedule."""
    chosen = selection.choose_algorithms(setting.collective, setting.procs, text)
    for spec in chosen:
        if spec.startswith("mpi:") or spec == "native":
            raise RequestError(f"{spec} has no schedule to evaluate; leave it out")
    if not chosen:
        raise RequestError("--algorithms is empty; name an algorithm")
    chosen += [schedule.file for schedule in setting.schedules]
    return chosen  # hierarchical ones are refused later, when the nodes are known


def parse_transport(text: str | None) -> tuple[str, str]:
    """Transports in memory and in the network: "zero_copy", "rdma", "segments,rdma"."""
    refuse_empty("--transport", text, "zero_copy,rdma")
    words = [word.strip() for word in text.split(",")] if text else []
    if "" in words:
        raise RequestError(f"--transport '{text}' has an empty word; leave out a comma")
    network = [word for word in words if word in NETWORK]
    memory = [word for word in words if word not in NETWORK]
    for where, found in (("memory", memory), ("the network", network)):
        if len(set(found)) > 1:
            raise RequestError(
                f"--transport {text} names {len(found)} transports in {where}; give one of them"
            )
    return (memory or ["copy_in_copy_out"])[0], (network or ["copies"])[0]


def parse_procs(text: str, several: bool) -> list[int]:
    if several:
        return parsing.parse_numbers(text, "--procs", 1, MOST_PROCS)
    return [parsing.parse_number(text, "--procs", 1, MOST_PROCS)]


def register(app: typer.Typer) -> None:
    app.command("predict", help=HELP)(predict)
