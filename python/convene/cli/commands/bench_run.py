# SPDX-License-Identifier: BSD-3-Clause
"""convene bench run: compares algorithms of one collective."""

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.bench import metrics, sessions, terminal
from convene.bench.metrics import METRICS
from convene.bench.requests import BALANCED, DISTRIBUTIONS, OPERATIONS, TYPES
from convene.bench.sessions import Scope
from convene.catalogue import collectives
from convene.catalogue.selection import FORECASTS, NATIVE
from convene.cli import completion, measurements
from convene.cli.groups import grouped
from convene.cli.measurements import Conditions, Files, Sampling, choose_type
from convene.cli.options import Collective, Json, Launch, check_word, choices, complete, refuse
from convene.mpi import settings

HELP = """Measures a collective: compares Convene's and native algorithms in one run.

An observation is a batch of calls after two barriers; its time is that of the slowest rank. Every \
repetition takes one observation of each algorithm, in random order. Results are checked.

With --arrivals, an observation is one call, which each rank enters with the delay of the pattern. The \
balanced case is always measured too.

The table shows medians (or means, depending on --metric) with 95 % confidence intervals (bootstrap), and \
ratios: below 1 is faster than the reference. native is the algorithm that the MPI selects; mpi:NAME is one \
of its algorithms by name, if the MPI allows the choice.

[bold]Examples[/bold]

  convene bench run allgather -n 8 --sizes 8:1MiB:8

  convene bench run bcast -n 4,8 --algorithms 'binomial,chain;segments=8' --against native -o run.json

  convene bench run allreduce -n 8 --algorithms ring,rabenseifner --against native,mpi:ring --op max

  convene bench run allgather -n 8 --sizes 64KiB --arrivals uniform:5ms,late:any:10ms --metric elapsed

  convene bench run reduce -n 8 --sizes 2MiB --arrivals late:7:5ms --algorithms clairvoyant@truth,binomial

  convene bench run allgatherv -n 6 --distributions regular,spike --launcher 'mpirun --hostfile hosts' --json
"""


def complete_contenders(context: typer.Context, incomplete: str) -> list[str]:
    """Completes the last name of a list, or the forecast after its @."""
    begun, at, _ = incomplete.rpartition("@")
    if not at or "," in incomplete[len(begun) :]:
        return completion.complete_algorithms(context, incomplete)
    return [f"{begun}@{kind}" for kind in FORECASTS if f"{begun}@{kind}".startswith(incomplete)]


def complete_metric(incomplete: str) -> list[tuple[str, str]]:
    return [(each.name, each.summary) for each in METRICS.values() if each.name.startswith(incomplete)]


@dataclass(frozen=True)
class Compared:
    """Comparison: algorithms, references, metric."""

    algorithms: Annotated[
        str,
        typer.Option(
            metavar="all|LIST",
            help="Algorithms, as in ring,sparbit; all: Convene's algorithms that support this number of "
            "ranks. A suffix passes a forecast of --arrivals: clairvoyant@truth, @average (of the last "
            "five calls) or @mirrored (a wrong one).",
            autocompletion=complete_contenders,
        ),
    ] = "all"
    against: Annotated[
        str, typer.Option(metavar="LIST", help="References of the ratios, as in native,mpi:ring.")
    ] = NATIVE
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Value of an observation: {', '.join(METRICS)}. Default: max, the time of the slowest "
            "rank; with --arrivals: elapsed, the mean over ranks of the time from arrival to exit.",
            autocompletion=complete_metric,
        ),
    ] = None


@dataclass(frozen=True)
class Calls:
    """Calls: sizes, types, arrivals."""

    sizes: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Bytes per block (bcast, reductions: of the vector): a list 8,64,4KiB or a range 8:1MiB, "
            "which doubles; 8:1MiB:4 multiplies by 4.",
        ),
    ] = "8:1MiB:4"
    arrivals: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help=f"Arrival patterns: {completion.arrival_forms()}.",
            autocompletion=completion.complete_arrivals,
        ),
    ] = BALANCED
    distributions: Annotated[
        str,
        typer.Option(
            metavar="LIST", help=f"Distributions of unequal block sizes: {', '.join(DISTRIBUTIONS)}."
        ),
    ] = "regular"
    item_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar=choices(TYPES),
            help="Type of the items. Default: byte; for reductions double.",
            autocompletion=complete(TYPES),
        ),
    ] = None
    operation: Annotated[
        str,
        typer.Option(
            "--op",
            metavar=choices(OPERATIONS),
            help="Operator of reductions.",
            autocompletion=complete(OPERATIONS),
        ),
    ] = "sum"
    root: Annotated[int, typer.Option(min=0, help="Root rank of a rooted collective.")] = 0


def parse_distributions(collective: str, text: str) -> list[str]:
    names = [check_word("--distributions", part.strip(), DISTRIBUTIONS) for part in text.split(",")]
    if collective not in collectives.IRREGULAR and names != ["regular"]:
        raise RequestError(
            f"{collective} has blocks of equal size; --distributions is for "
            f"{', '.join(collectives.IRREGULAR)}"
        )
    return list(dict.fromkeys(names))


def refuse_idle(context: typer.Context, collective: str, calls: Calls, conditions: Conditions) -> None:
    """Refuses options without effect."""
    if not _core.is_rooted(collective):
        refuse(context, ["root"], f"{collective}, which has no root")
    if collective not in collectives.REDUCTIONS:
        refuse(context, ["operation"], f"{collective}, which has no operator")
    if collective in collectives.WITHOUT_SIZES:
        refuse(context, ["sizes", "item_type"], f"{collective}, which carries no data")
    if calls.arrivals != BALANCED:
        refuse(context, ["batch"], "--arrivals, which measures single calls")
    for is_single, what in (
        (conditions.sync == "window", "--sync window"),
        (conditions.cache == "cold", "--cache cold"),
    ):
        if is_single:
            refuse(context, ["batch"], f"{what}, which measures single calls")
    if conditions.sync == "barrier":
        refuse(context, ["window"], "--sync barrier, which has no deadlines")


@grouped
def run(
    context: typer.Context,
    collective: Collective,
    procs: Annotated[
        str, typer.Option("-n", "--procs", metavar="LIST", help="Numbers of ranks, as in 8 or 2,4,8.")
    ],
    compared: Compared,
    calls: Calls,
    sampling: Sampling,
    conditions: Conditions,
    launch: Launch,
    written: Files,
    json: Json = False,
) -> None:
    written.check()
    name = collectives.check_collective(collective)
    refuse_idle(context, name, calls, conditions)
    template = measurements.make_template(sampling, conditions, name, calls.operation, calls.root)
    template = replace(template, type=choose_type(name, calls.item_type))
    setting = settings.find_setting(launch.launcher, launch.stack)
    scope = Scope(
        measurements.check_procs(procs),
        [0] if name in collectives.WITHOUT_SIZES else parsing.parse_sizes(calls.sizes),
        parse_distributions(name, calls.distributions),
        compared.algorithms,
        compared.against,
        calls.arrivals,
    )
    requests, references = sessions.make_requests(scope, template)
    patterns = [pattern for request in requests for pattern in request.arrivals]
    metric = metrics.find_metric(compared.metric) if compared.metric else metrics.default_metric(patterns)
    result, rows = measurements.measure(
        setting,
        requests,
        written.output,
        lambda runs: sessions.finish(name, references, runs, metric),
        resume=written.resume,
    )
    if json:
        console.print_json({key: value for key, value in result.items() if key != "runs"})
    else:
        terminal.show(result, rows, references)


def register(group: typer.Typer) -> None:
    group.command("run", help=HELP)(run)
