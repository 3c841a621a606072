# SPDX-License-Identifier: BSD-3-Clause
"""convene verify: plays every schedule without MPI."""

import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Annotated, Any, TypedDict

import typer
from rich.progress import Progress

from convene import _core, arguments, console
from convene._core import RequestError
from convene.shapes import Verdict, Where

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

MOST_PROCS = 1024  # beyond, one play takes minutes


MOST_FORECASTS = 1_000_000

ALL_WITH_ALL = 4  # up to so many processes, every sample plays every root

ALL_NUMBERS = 16  # up to so many, every composition plays every number of processes

THIRD = 3

MOST_SEGMENTS = 65536


@dataclass(frozen=True)
class Mapping:
    """Which ranks share a node, for algorithms that look at that, and who is whose neighbour."""

    machine: str = ""
    placement: str = ""
    graph: str = ""

    @property
    def as_arguments(self) -> Where:
        where: Where = {"machine": self.machine, "placement": self.placement}
        return {**where, "graph": self.graph} if self.graph else where

    @property
    def in_words(self) -> str:
        graph = f", graph {self.graph}" if self.graph else ""
        if self.machine:
            return f"{graph}, {self.placement} on {self.machine}"
        return graph + (f", on nodes {self.placement}" if self.placement else "")


NOWHERE = Mapping()


class Operator(TypedDict, total=False):
    commutative: bool


@cache
def representative_mappings(procs: int) -> list[Mapping]:
    """Nodes that are filled one after the other, that are dealt ranks in turn, and that have any ranks: of
    sizes that differ little, and much."""
    source = random.Random(procs)
    few = max(1, procs // 4)
    balanced = [rank % few for rank in range(procs)]
    source.shuffle(balanced)
    wild = [min(source.randrange(few), source.randrange(few)) for _ in range(procs)]
    found = [
        Mapping(f"node:{-(-procs // 4)} core:4", "sequential"),
        Mapping(f"node:3 core:{-(-procs // 3)}", "cyclic"),
        *(Mapping(placement=",".join(map(str, nodes))) for nodes in (balanced, wild)),
    ]
    return list(dict.fromkeys(found))


@cache
def knows_in_place(collective: str) -> bool:
    return _core.knows_in_place(collective)


@dataclass(frozen=True)
class Case:
    """One call to be played, also with so many random forecasts of arrivals."""

    collective: str
    spec: str
    procs: int
    root: int
    forecasts: int = 0
    mapping: Mapping = NOWHERE
    commutative: bool = True

    @property
    def algorithm(self) -> str:
        return self.spec.partition(";")[0].partition("(")[0]

    @property
    def plays_in_place(self) -> bool:
        return knows_in_place(self.collective)


@dataclass
class Result:
    case: Case
    verdict: Verdict

    @property
    def sentence(self) -> str:
        """What is wrong, and with which call."""
        case = self.case
        return (
            f"{case.collective} {case.spec}, {case.procs} processes, root {case.root}"
            f"{case.mapping.in_words if case.mapping != NOWHERE else ''}"
            f"{'' if case.commutative else ', an operator that does not commute'}: {self.verdict['why']}"
        )


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
        return [arguments.check_collective(name) for name in collectives] or known, None
    if not collectives or len(others) > 1 or names[-1] != others[0]:
        # Whatever it was meant to be, it stands where a collective should.
        arguments.check_collective(others[0])
    return [arguments.check_collective(name) for name in collectives], others[0]


def specs_of(collective: str, algorithm: str | None, segments: list[int]) -> list[str]:
    """The algorithm as it was given, or with all samples; without one, all that have schedules. Those with a
    parameter of that name take these numbers of segments, if there are any."""
    if algorithm is None:
        names = [known["name"] for known in _core.algorithms(collective) if not known["native"]]
        return [spec for name in names for spec in specs_of(collective, name, segments)]
    given = _core.spec(collective, algorithm)
    if ";" in algorithm or "(" in algorithm:
        return [given]
    return with_segments(collective, _core.samples(collective, given), segments)


def takes_segments(collective: str, algorithm: str | None) -> bool:
    """Whether --segments sets something, for any algorithm where none is named: not where parameters were
    given, which stay as they are."""
    return any(
        parameter["name"] == "segments"
        for known in _core.algorithms(collective)
        if algorithm in (None, known["name"])
        for parameter in known["parameters"]
    )


def with_segments(collective: str, samples: list[str], segments: list[int]) -> list[str]:
    """The samples with these numbers of segments instead of their own, where these are allowed."""
    name = samples[0].partition(";")[0].partition("(")[0]
    known = next(known for known in _core.algorithms(collective) if known["name"] == name)
    bounds = next((each for each in known["parameters"] if each["name"] == "segments"), None)
    if not segments or bounds is None:
        return samples
    least, most = bounds["least"] or 1, bounds["most"] or MOST_SEGMENTS
    allowed = [number for number in segments if least <= number <= most]
    others = [re.sub(r";segments=[0-9]+", "", sample) for sample in samples]
    return [
        _core.spec(collective, sample, [("segments", str(number))])
        for sample, number in product(dict.fromkeys(others), allowed)
    ]


def reductions_of(collectives: list[str], *, named: bool) -> list[str]:
    """Those that have an operator; a collective that was named must."""
    for collective in collectives:
        if named and not _core.is_reduction(collective):
            raise RequestError(f"{collective} has no operator; leave out --non-commutative")
    return [collective for collective in collectives if _core.is_reduction(collective)]


def roots_of(collective: str, procs: int, wanted: str) -> Iterable[int]:
    if not _core.is_rooted(collective):
        return [0]
    if wanted == "all":
        return range(procs)
    return [root for root in arguments.parse_numbers(wanted, "--roots", 0, MOST_PROCS) if root < procs]


def parse_forecasts(text: str | None) -> int:
    """How many random forecasts are to be played: N of random:N."""
    if text is None:
        return 0
    kind, colon, count = text.partition(":")
    if kind != "random" or not colon:
        raise RequestError(f"--arrivals must be random:N, as in random:100, not '{text}'")
    return arguments.parse_number(count, "N in --arrivals random:N", 1, MOST_FORECASTS)


def random_forecast(procs: int, number: int) -> list[int]:
    """Forecast so many of a fixed series: spread out or dense, every fourth with ranks that never come."""
    source = random.Random(f"{procs} {number}")
    spread = source.randrange(3 * procs + 1)
    arrivals = [source.randint(0, spread) for _ in range(procs)]
    if number % 4 == 3:
        for rank in source.sample(range(procs), source.randint(1, procs)):
            arrivals[rank] = arguments.MOST_ROUNDS
    return arrivals


def representative_graphs(procs: int) -> list[str]:
    """Grids with and without ends, neighbours that share neighbours, and any graphs, sparse and dense."""
    return ["cart", "torus", "moore", *(f"random:{degree}:{procs}" for degree in (1, 3, 8))]


@dataclass(frozen=True)
class Grid:
    """What is to be played with each algorithm."""

    procs: list[int]
    roots: str = "all"
    forecasts: int = 0
    mapping: Mapping = NOWHERE
    segments: list[int] = field(default_factory=list)
    commutative: bool = True
    thorough: bool = False

    def is_left_out(self, sample: "Sample", procs: int, root: int) -> bool:
        """Whether it is another sample's turn to play this."""
        if self.thorough or procs <= ALL_WITH_ALL or sample.of == 1:
            return False
        turn = sample.turn
        if sample.rooted:
            turn, others = divmod(sample.turn + root, sample.of)
            if others != 0:
                return True
        return sample.composed and procs > ALL_NUMBERS and (turn + procs) % THIRD != 0

    def mappings_of(self, sample: "Sample", procs: int, root: int) -> list[Mapping]:
        """Where the ranks are: on all representative mappings; where samples take turns, on one of them. In a
        neighborhood: all graphs, with each of the mappings where the algorithm looks at nodes."""
        if _core.is_neighborhood(sample.collective):
            return self.graphs_of(sample, procs)
        if not sample.composed:
            return [self.mapping if _core.shares_memory(sample.collective, sample.spec) else NOWHERE]
        if self.mapping != NOWHERE:
            return [self.mapping]
        found = representative_mappings(procs)
        if self.thorough or procs <= ALL_WITH_ALL or (sample.of == 1 and not sample.rooted):
            return found
        fit = [
            each for each in found if not unmet(sample.collective, sample.spec, procs, each, self.commutative)
        ]
        # Divided: what is left out above goes by the rest of such a sum.
        turn = sample.turn // THIRD + procs // THIRD + root // sample.of
        return [(fit or found)[turn % len(fit or found)]]

    def graphs_of(self, sample: "Sample", procs: int) -> list[Mapping]:
        given, places = self.mapping, [self.mapping]
        minds_nodes = arguments.minds_nodes(sample.collective, sample.spec)
        if minds_nodes and not given.machine and not given.placement:
            places += representative_mappings(procs)
        graphs = [given.graph] if given.graph else representative_graphs(procs)
        found = [replace(place, graph=graph) for place in places for graph in graphs]
        if self.thorough or procs <= ALL_NUMBERS or given.graph:
            return found
        return found[(sample.turn + procs) % THIRD :: THIRD]


@dataclass(frozen=True)
class Sample:
    """An algorithm with one sample of its parameters: the one of number `turn` of so many."""

    collective: str
    spec: str
    turn: int
    of: int
    rooted: bool
    composed: bool
    learns: bool


def samples_of(collective: str, algorithm: str | None, segments: list[int]) -> list[Sample]:
    known = {known["name"]: known for known in _core.algorithms(collective)}
    specs = specs_of(collective, algorithm, segments)
    names = [spec.partition(";")[0].partition("(")[0] for spec in specs]
    of, rooted = Counter(names), _core.is_rooted(collective)
    return [
        Sample(
            collective,
            spec,
            turn=turn,
            of=of[name],
            rooted=rooted,
            composed=bool(known[name]["parts"]),
            learns=_core.learns(collective, spec) != "none",
        )
        for turn, (spec, name) in enumerate(zip(specs, names, strict=True))
    ]


@cache
def unmet(collective: str, spec: str, procs: int, mapping: Mapping, commutative: bool) -> str:
    return _core.unmet(collective, spec, procs, mapping.machine, mapping.placement, commutative)


def make_cases(collectives: list[str], algorithm: str | None, grid: Grid) -> list[Case]:
    cases = []
    why_not: str | None = None  # of the first call that cannot be
    has_roots = False
    for collective in collectives:
        samples = samples_of(collective, algorithm, grid.segments)
        for sample, number in product(samples, grid.procs):
            tried = grid.forecasts if sample.learns else 0
            for root in roots_of(collective, number, grid.roots):
                has_roots = True
                if grid.is_left_out(sample, number, root):
                    continue
                for where in grid.mappings_of(sample, number, root):
                    why = unmet(collective, sample.spec, number, where, grid.commutative)
                    why_not = why_not or why
                    if not why:
                        cases.append(
                            Case(collective, sample.spec, number, root, tried, where, grid.commutative)
                        )
    if not cases and has_roots:
        ending = "" if "operator" in (why_not or "") else ", and --procs names no such number"
        raise RequestError(f"there is nothing to play: {algorithm} {why_not}{ending}")
    if not cases:
        raise RequestError(f"there is nothing to play: every root of --roots {grid.roots} is above --procs")
    return cases


def play(case: Case) -> Result:
    """Plays a call both ways, and with its forecasts; the counts are those of the ordinary one."""
    call = (case.collective, case.spec, case.procs, case.root)
    where = case.mapping.as_arguments
    # Said only where it matters: most callers stand for calls of all kinds.
    operator: Operator = {} if case.commutative else {"commutative": False}
    verdict = _core.check(*call, **where, **operator)
    if verdict["ok"] and case.plays_in_place:
        in_place = _core.check(*call, in_place=True, **where, **operator)
        verdict["ok"] = in_place["ok"]
        verdict["why"] = f"with MPI_IN_PLACE: {in_place['why']}" if in_place["why"] else ""
    for number in range(case.forecasts if verdict["ok"] else 0):
        arrivals = random_forecast(case.procs, number)
        forecast = _core.check(*call, in_place=number % 2 == 1, arrivals=arrivals, **where, **operator)
        if not forecast["ok"]:
            verdict["ok"] = False
            verdict["why"] = f"with --arrivals {','.join(map(str, arrivals))}: {forecast['why']}"
            break
    return Result(case, verdict)


def play_all(cases: list[Case]) -> Iterator[Result]:
    """Plays them on all cores, with a bar on a terminal. The largest come first."""
    output = console.make(error=True)
    ordered = sorted(cases, key=lambda case: -case.procs)
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,
        Progress(console=output, transient=True, disable=not output.is_terminal) as progress,
    ):
        yield from progress.track(pool.map(play, ordered), total=len(cases), description="playing")


def as_json(result: Result) -> dict[str, Any]:
    case, verdict = result.case, result.verdict
    value = {
        "collective": case.collective,
        "algorithm": case.algorithm,
        "procs": case.procs,
        "root": case.root,
        "parameters": _core.parameters(case.collective, case.spec),
        "ok": verdict["ok"],
        **{name: verdict[name] for name in ("rounds", "messages", "blocks")},
        **{
            name: verdict[name]
            for name in ("most_messages_sent", "most_blocks_sent", "scratch", "steps", "memory")
        },
    }
    if case.mapping != NOWHERE:
        value["mapping"] = case.mapping.as_arguments
    if case.forecasts:
        value["forecasts"] = case.forecasts
    if not case.commutative:
        value["commutative"] = False
    return value if verdict["ok"] else {**value, "why": verdict["why"]}


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
                        known["name"] for known in arguments.known_algorithms(_core.collectives())
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
    json: arguments.Json = False,
) -> None:
    collectives, algorithm = split_names(names or [])
    if non_commutative:
        collectives = reductions_of(collectives, named=bool(names))
    forecasts = parse_forecasts(arrivals)
    if graph and not all(_core.is_neighborhood(collective) for collective in collectives):
        raise RequestError("--graph is for neighborhood collectives alone: name these")
    grid = Grid(
        procs=arguments.parse_numbers(procs, "--procs", 1, MOST_PROCS),
        roots=roots,
        forecasts=forecasts,
        mapping=Mapping(mapping or "", placement or ("sequential" if mapping else ""), graph or ""),
        segments=arguments.parse_numbers(segments, "--segments", 1, MOST_SEGMENTS) if segments else [],
        commutative=not non_commutative,
        thorough=thorough,
    )
    if roots != "all" and not any(_core.is_rooted(each) for each in collectives):
        raise RequestError(f"{' and '.join(collectives)}: no root; leave out --roots {roots}")
    if grid.segments and not any(takes_segments(each, algorithm) for each in collectives):
        what = algorithm or " and ".join(collectives)
        raise RequestError(f"{what} has no number of segments to set; leave out --segments {segments}")
    cases = make_cases(list(dict.fromkeys(collectives)), algorithm, grid)
    if (mapping or placement) and not any(case.mapping.machine or case.mapping.placement for case in cases):
        given = "--mapping" if mapping else "--placement"
        raise RequestError(f"{algorithm or 'what is played'} does not mind nodes; leave out {given}")
    if forecasts and not any(case.forecasts for case in cases):
        raise RequestError(f"{algorithm} does not mind arrivals; leave out --arrivals {arrivals}")
    found = {result.case: result for result in play_all(cases)}
    results = [found[case] for case in cases]
    if json:
        console.print_json([as_json(result) for result in results])
    else:
        print_table(results, procs)
    failures = [result for result in results if not result.verdict["ok"]]
    for result in failures[:20]:
        console.complain(result.sentence)
    if failures:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    app.command("verify", help=HELP)(verify)
