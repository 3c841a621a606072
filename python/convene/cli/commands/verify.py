# SPDX-License-Identifier: BSD-3-Clause
"""convene verify: checks every schedule without MPI."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.catalogue import algorithms, schedule_files
from convene.catalogue.collectives import check_collective
from convene.cli import options
from convene.cli.groups import grouped
from convene.verify import checks, samples
from convene.verify.checks import Result
from convene.verify.grid import MOST_PROCS, Case, Grid, make_cases
from convene.verify.mappings import Mapping
from convene.verify.samples import MOST_SEGMENTS

HELP = """Verifies schedules without MPI: delivery, deadlocks, leftover messages, data hazards.

Each algorithm is simulated with all samples of its parameters, with every root, with and without \
MPI_IN_PLACE, for all numbers of processes that meet its requirement. The exit status is 1 if any check \
fails. Above 4 processes each root is checked with one of the samples, in turn; --thorough checks every \
root with every sample.

[bold]Examples[/bold]

  convene verify allgather allgatherv --procs 1-64

  convene verify gather binomial --procs 1-64 --roots all

  convene verify allgather sparbit --procs 12,317

  convene verify allgather 'bruck;ports=3' --procs 1-100 --json

  convene verify allgather bdr --arrivals random:100

  convene verify neighbor_allgather combining --procs 12 --graph moore:4x3

  convene verify reduce allreduce --procs 1-64 --segments 1,2,3,4,7,8,16 --non-commutative

  convene verify allgather 'hier(sparbit,linear;leaders=2)' --procs 8-32

  convene verify --schedule mine.json

Compositions (hier, remap, by_arrival) are checked with each algorithm as a part, and on several mappings: \
sequential, cyclic and irregular ones, or the one of --mapping. Above 4 processes not every part is combined \
with every mapping; above 16, each combination is checked for every third number of processes. Neighborhood \
collectives are checked on several graphs (above 16 processes on every third), or on the one of --graph. """

MOST_FORECASTS = 1_000_000


@dataclass
class Row:
    """Row of the table: one algorithm of one collective."""

    results: list[Result] = field(default_factory=list)

    def add(self, result: Result) -> None:
        self.results.append(result)

    @property
    def failures(self) -> list[Result]:
        return [result for result in self.results if not result.verdict["ok"]]

    def range_of(self, count: str) -> str:
        values = [int(result.verdict[count]) for result in self.results]  # type: ignore[literal-required]
        return f"{min(values)}" if min(values) == max(values) else f"{min(values)}…{max(values)}"


def split_names(names: list[str]) -> tuple[list[str], str | None]:
    """Splits the arguments into collectives and the algorithm that may follow them."""
    known = _core.collectives()
    collectives = [name for name in names if name.replace("-", "_") in known]
    others = [name for name in names if name not in collectives]
    if not others:
        return [check_collective(name) for name in collectives] or known, None
    if not collectives or len(others) > 1 or names[-1] != others[0]:
        # A collective is expected at this position.
        check_collective(others[0])
    return [check_collective(name) for name in collectives], others[0]


def reductions_of(collectives: list[str], *, named: bool) -> list[str]:
    """The reductions among them; a collective that was named must be one."""
    for collective in collectives:
        if named and not _core.is_reduction(collective):
            raise RequestError(f"{collective} has no operator; leave out --non-commutative")
    return [collective for collective in collectives if _core.is_reduction(collective)]


def parse_forecasts(text: str | None) -> int:
    """The number of random forecasts: N of random:N."""
    if text is None:
        return 0
    kind, colon, count = text.partition(":")
    if kind != "random" or not colon:
        raise RequestError(f"--arrivals must be random:N, as in random:100, not '{text}'")
    return parsing.parse_number(count, "N in --arrivals random:N", 1, MOST_FORECASTS)


def print_table(results: list[Result], title: str) -> None:
    rows: dict[tuple[str, str], Row] = {}
    for result in results:
        rows.setdefault((result.case.collective, result.case.algorithm), Row()).add(result)
    numbers = ("checks", "P", "rounds", "messages", "blocks")
    table = console.table(
        title,
        *("collective", "algorithm", *numbers, "verdict"),
        numbers=numbers,
        keys=2,
        optional=("blocks", "messages", "rounds"),
        whole=("verdict",),
    )
    for (collective, algorithm), row in rows.items():
        sizes = [result.case.procs for result in row.results]
        failed = len(row.failures)
        table.add_row(
            collective,
            algorithm,
            str(sum(1 + result.case.checks_in_place + result.case.forecasts for result in row.results)),
            f"{min(sizes)}…{max(sizes)}" if min(sizes) != max(sizes) else str(sizes[0]),
            *(row.range_of(count) for count in ("rounds", "messages", "blocks")),
            f"[red]{failed} fail[/red]" if failed else "[green]all pass[/green]",
        )
    console.make().print(table)


def complete_names(incomplete: str) -> list[str]:
    known = algorithms.known_algorithms(_core.collectives())
    names = dict.fromkeys([*_core.collectives(), *(each["name"] for each in known)])
    return [name for name in names if name.startswith(incomplete)]


@dataclass(frozen=True)
class Extent:
    """Grid: the cases that are checked."""

    procs: Annotated[
        str,
        typer.Option(
            "-p", "--procs", metavar="LIST", help="Numbers of processes, as in 8, 1-64 or 2,4,8-16."
        ),
    ] = "1-64"
    roots: Annotated[str, typer.Option(metavar="all|LIST", help="Root ranks of rooted collectives.")] = "all"
    arrivals: Annotated[
        str | None,
        typer.Option(
            metavar="random:N",
            help="Also check arrival-aware algorithms with N random forecasts of arrivals.",
        ),
    ] = None
    segments: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Numbers of segments to check, as in 1,2,3,4,7,8,16."),
    ] = None
    non_commutative: Annotated[
        bool,
        typer.Option(
            "--non-commutative",
            help="Check reductions with a non-commutative operator, for the algorithms that support it.",
        ),
    ] = False
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Check every root with every sample of parameters. Takes hours."),
    ] = False


@dataclass(frozen=True)
class Given:
    """Given: schedules from files."""

    schedules: options.Schedules = None


@dataclass(frozen=True)
class Place:
    """Place: nodes, mapping, neighbours."""

    mapping: Annotated[
        str | None,
        typer.Option(metavar="MACHINE", help='Machine for hierarchical algorithms, as in "node:4 core:8".'),
    ] = None
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="sequential|cyclic|LIST",
            help="Mapping of ranks to these nodes; 0,0,1,1 names the node of each rank.",
        ),
    ] = None
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="GRAPH",
            help="Graph of neighborhood collectives, as in torus:4x4. Default: several graphs.",
        ),
    ] = None


@grouped
def verify(
    context: typer.Context,
    extent: Extent,
    place: Place,
    given: Given,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COLLECTIVE...] [ALGORITHM]",
            help="Collectives (default: all), and one algorithm.",
            autocompletion=complete_names,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    if given.schedules:
        if names:
            raise RequestError(f"--schedule names its collective; leave out {' '.join(names)}")
        others = [
            "procs",
            "roots",
            "arrivals",
            "segments",
            "thorough",
            "mapping",
            "placement",
            "graph",
        ]
        options.refuse(context, others, "--schedule, which has one call")
        report(
            schedule_cases(given.schedules, commutative=not extent.non_commutative),
            "Schedules from files",
            json,
        )
        return
    collectives, algorithm = split_names(names or [])
    if extent.non_commutative:
        collectives = reductions_of(collectives, named=bool(names))
    grid = make_grid(collectives, algorithm, extent, place)
    cases = make_cases(list(dict.fromkeys(collectives)), algorithm, grid)
    refuse_idle(cases, algorithm, extent, place)
    report(cases, f"Schedules for --procs {extent.procs}", json)


def schedule_cases(paths: list[Path], *, commutative: bool) -> list[Case]:
    """The calls of schedules from files."""
    cases = []
    for schedule in map(schedule_files.load, paths):
        call = schedule.call
        if not commutative:
            reductions_of([call["collective"]], named=True)
        where = (call["procs"], call["root"])
        cases.append(
            Case(call["collective"], schedule.file, *where, commutative=commutative, schedule=schedule)
        )
    return cases


def report(cases: list[Case], title: str, json: bool) -> None:
    """Checks the cases and prints the results; ends with status 1 if one of them fails."""
    found = {result.case: result for result in checks.check_all(cases)}
    results = [found[case] for case in cases]
    if json:
        console.print_json([checks.as_json(result) for result in results])
    else:
        print_table(results, title)
    failures = [result for result in results if not result.verdict["ok"]]
    for result in failures[:20]:
        console.complain(result.sentence)
    if failures:
        raise typer.Exit(1)


def make_grid(collectives: list[str], algorithm: str | None, extent: Extent, place: Place) -> Grid:
    if place.graph and not all(_core.is_neighborhood(collective) for collective in collectives):
        raise RequestError(
            "--graph is for neighborhood collectives; name only these, such as neighbor_allgather"
        )
    placement = place.placement or ("sequential" if place.mapping else "")
    numbers = extent.segments
    grid = Grid(
        procs=parsing.parse_numbers(extent.procs, "--procs", 1, MOST_PROCS),
        roots=extent.roots,
        forecasts=parse_forecasts(extent.arrivals),
        mapping=Mapping(place.mapping or "", placement, place.graph or ""),
        segments=parsing.parse_numbers(numbers, "--segments", 1, MOST_SEGMENTS) if numbers else [],
        commutative=not extent.non_commutative,
        thorough=extent.thorough,
    )
    if grid.roots != "all" and not any(_core.is_rooted(each) for each in collectives):
        raise RequestError(f"{' and '.join(collectives)}: no root rank; leave out --roots {grid.roots}")
    if grid.segments and not any(samples.takes_segments(each, algorithm) for each in collectives):
        what = algorithm or " and ".join(collectives)
        raise RequestError(f"{what} has no parameter segments; leave out --segments {numbers}")
    return grid


def refuse_idle(cases: list[Case], algorithm: str | None, extent: Extent, place: Place) -> None:
    """Refuses options without effect."""
    given = "--mapping" if place.mapping else "--placement" if place.placement else ""
    if given and not any(case.mapping.machine or case.mapping.placement for case in cases):
        raise RequestError(f"{algorithm or 'the selection'} does not depend on nodes; leave out {given}")
    if extent.arrivals and not any(case.forecasts for case in cases):
        raise RequestError(f"{algorithm} does not depend on arrivals; leave out --arrivals {extent.arrivals}")


def register(app: typer.Typer) -> None:
    app.command("verify", help=HELP)(verify)
