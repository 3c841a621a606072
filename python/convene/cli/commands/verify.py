# SPDX-License-Identifier: BSD-3-Clause
"""convene verify: plays every schedule without MPI."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.catalogue import algorithms
from convene.catalogue.collectives import check_collective
from convene.cli import options
from convene.verify import plays, samples
from convene.verify.grid import MOST_PROCS, Grid, make_cases
from convene.verify.mappings import Mapping
from convene.verify.plays import Result
from convene.verify.samples import MOST_SEGMENTS

HELP = """Plays all schedules without MPI: delivered, deadlock-free, nothing left over, nothing unordered.

Each algorithm is played with all samples of its parameters, every root, with and without MPI_IN_PLACE,
wherever its requirement holds. Exit status 1 when any of them fails. Above 4 processes the samples take
turns in playing the roots: each root is played, and each sample from several roots; --thorough plays all
samples with all roots.

[bold]Examples[/bold]

  convene verify allgather allgatherv --procs 1-64

  convene verify gather binomial --procs 1-64 --roots all

  convene verify allgather sparbit --procs 12,317

  convene verify allgather 'bruck;ports=3' --procs 1-100 --json

  convene verify allgather bdr --arrivals random:100

  convene verify neighbor_allgather combining --procs 12 --graph moore:4x3

  convene verify reduce allreduce --procs 1-64 --segments 1,2,3,4,7,8,16 --non-commutative

  convene verify allgather 'hier(sparbit,linear;leaders=2)' --procs 8-32

Algorithms that are composed of others, hier and remap, are played with each algorithm as a part, and on
several mappings: sequential, cyclic and irregular ones, or the one of --mapping. Above 4 processes they take
turns in playing the mappings, too, and above 16 each plays every third number of processes. Neighborhood
collectives are played on several graphs (above 16 processes on every third), or on the one of --graph.
"""

MOST_FORECASTS = 1_000_000


@dataclass
class Row:
    """What the table says about one algorithm of one collective."""

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
    """Collectives, and the algorithm that may stand behind them."""
    known = _core.collectives()
    collectives = [name for name in names if name.replace("-", "_") in known]
    others = [name for name in names if name not in collectives]
    if not others:
        return [check_collective(name) for name in collectives] or known, None
    if not collectives or len(others) > 1 or names[-1] != others[0]:
        # Whatever it was meant to be, it stands where a collective should.
        check_collective(others[0])
    return [check_collective(name) for name in collectives], others[0]


def reductions_of(collectives: list[str], *, named: bool) -> list[str]:
    """Those that have an operator; a collective that was named must."""
    for collective in collectives:
        if named and not _core.is_reduction(collective):
            raise RequestError(f"{collective} has no operator; leave out --non-commutative")
    return [collective for collective in collectives if _core.is_reduction(collective)]


def parse_forecasts(text: str | None) -> int:
    """How many random forecasts are to be played: N of random:N."""
    if text is None:
        return 0
    kind, colon, count = text.partition(":")
    if kind != "random" or not colon:
        raise RequestError(f"--arrivals must be random:N, as in random:100, not '{text}'")
    return parsing.parse_number(count, "N in --arrivals random:N", 1, MOST_FORECASTS)


def print_table(results: list[Result], procs: str) -> None:
    rows: dict[tuple[str, str], Row] = {}
    for result in results:
        rows.setdefault((result.case.collective, result.case.algorithm), Row()).add(result)
    numbers = ("plays", "P", "rounds", "messages", "blocks")
    table = console.table(
        f"Schedules for --procs {procs}", "collective", "algorithm", *numbers, "verdict", numbers=numbers
    )
    for (collective, algorithm), row in rows.items():
        sizes = [result.case.procs for result in row.results]
        failed = len(row.failures)
        table.add_row(
            collective,
            algorithm,
            str(sum(1 + result.case.plays_in_place + result.case.forecasts for result in row.results)),
            f"{min(sizes)}…{max(sizes)}" if min(sizes) != max(sizes) else str(sizes[0]),
            *(row.range_of(count) for count in ("rounds", "messages", "blocks")),
            f"[red]{failed} fail[/red]" if failed else "[green]all pass[/green]",
        )
    console.make().print(table)


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COLLECTIVE...] [ALGORITHM]",
            help="Collectives (default: all), then perhaps one algorithm.",
            autocompletion=lambda incomplete: [
                name
                for name in [
                    *_core.collectives(),
                    *dict.fromkeys(
                        known["name"] for known in algorithms.known_algorithms(_core.collectives())
                    ),
                ]
                if name.startswith(incomplete)
            ],
        ),
    ] = None,
    procs: Annotated[
        str, typer.Option("-p", "--procs", metavar="LIST", help="As in 8, 1-64 or 2,4,8-16.")
    ] = "1-64",
    roots: Annotated[
        str, typer.Option(metavar="all|LIST", help="For collectives that have a root: which ones to play.")
    ] = "all",
    arrivals: Annotated[
        str | None,
        typer.Option(
            metavar="random:N",
            help="Play algorithms that mind who comes late also with N random arrivals.",
        ),
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option(
            metavar="MACHINE", help='For hierarchical algorithms: the nodes, as in "node:4 core:8".'
        ),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(metavar="sequential|cyclic|LIST", help="Likewise: which rank sits where."),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="GRAPH", help="For neighborhood collectives: one, as in torus:4x4, not several."
        ),
    ] = None,
    segments: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Numbers of segments to play, as in 1,2,3,4,7,8,16."),
    ] = None,
    non_commutative: Annotated[
        bool,
        typer.Option(
            "--non-commutative",
            help="Play reductions with an operator that does not commute, wherever an algorithm can do that.",
        ),
    ] = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Every sample of parameters plays every root. Takes hours.")
    ] = False,
    json: options.Json = False,
) -> None:
    collectives, algorithm = split_names(names or [])
    if non_commutative:
        collectives = reductions_of(collectives, named=bool(names))
    forecasts = parse_forecasts(arrivals)
    if graph and not all(_core.is_neighborhood(collective) for collective in collectives):
        raise RequestError("--graph is for neighborhood collectives alone: name these")
    grid = Grid(
        procs=parsing.parse_numbers(procs, "--procs", 1, MOST_PROCS),
        roots=roots,
        forecasts=forecasts,
        mapping=Mapping(mapping or "", placement or ("sequential" if mapping else ""), graph or ""),
        segments=parsing.parse_numbers(segments, "--segments", 1, MOST_SEGMENTS) if segments else [],
        commutative=not non_commutative,
        thorough=thorough,
    )
    if roots != "all" and not any(_core.is_rooted(each) for each in collectives):
        raise RequestError(f"{' and '.join(collectives)}: no root; leave out --roots {roots}")
    if grid.segments and not any(samples.takes_segments(each, algorithm) for each in collectives):
        what = algorithm or " and ".join(collectives)
        raise RequestError(f"{what} has no number of segments to set; leave out --segments {segments}")
    cases = make_cases(list(dict.fromkeys(collectives)), algorithm, grid)
    if (mapping or placement) and not any(case.mapping.machine or case.mapping.placement for case in cases):
        given = "--mapping" if mapping else "--placement"
        raise RequestError(f"{algorithm or 'what is played'} does not mind nodes; leave out {given}")
    if forecasts and not any(case.forecasts for case in cases):
        raise RequestError(f"{algorithm} does not mind arrivals; leave out --arrivals {arrivals}")
    found = {result.case: result for result in plays.play_all(cases)}
    results = [found[case] for case in cases]
    if json:
        console.print_json([plays.as_json(result) for result in results])
    else:
        print_table(results, procs)
    failures = [result for result in results if not result.verdict["ok"]]
    for result in failures[:20]:
        console.complain(result.sentence)
    if failures:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    app.command("verify", help=HELP)(verify)
