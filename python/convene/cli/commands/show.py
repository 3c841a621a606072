# SPDX-License-Identifier: BSD-3-Clause
"""convene show: prints one plan as text, JSON, picture or GOAL."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing, tables
from convene.base.core_types import Where
from convene.catalogue import algorithms, collectives
from convene.cli import parameters
from convene.cli.groups import grouped
from convene.cli.options import Algorithm, Collective, check_root, complete, refuse_empty

HELP = """Shows the schedules of all ranks as text, JSON, picture or GOAL (a format for LogGOPSim).

[bold]Examples[/bold]

  convene show allgather sparbit -p 8

  convene show gather binomial -p 8 --root 3

  convene show allgather bruck -p 9 --ports 2

  convene show allgather 'sparbit;send=packed' -p 8 -o sparbit.svg

  convene show allgather sparbit -p 16 --rings --mapping "node:4 core:4" -o rings.svg

  convene show allgather sparbit -p 8 --width 400 -o narrow.svg

  convene show allgatherv ring -p 4 --steps --rank 0

  convene show allgather bdr -p 4 --arrivals 2,0,0,0

  convene show neighbor_allgather combining -p 12 --graph moore:4x3

  convene show allgather 'hier(sparbit,linear;leaders=2)' -p 8 --mapping "node:2 core:4"
"""

WIDTHS = (200, 10_000)  # the least and the greatest, in pixels
FORMATS = ("text", "json", "svg", "goal")
SUFFIXES = {".txt": "text", ".json": "json", ".svg": "svg", ".goal": "goal"}


@dataclass(frozen=True)
class Call:
    """Call: root, buffers, arrivals."""

    root: Annotated[str | None, typer.Option(metavar="R", help="Root rank of a rooted collective.")] = None
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Show the schedules of a call with MPI_IN_PLACE.")
    ] = False
    arrivals: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Forecast for arrival-aware algorithms: the arrival of each rank, in rounds. 2,0,0,0: "
            "rank 0 arrives two rounds after the others.",
        ),
    ] = None


@dataclass(frozen=True)
class Place:
    """Place: nodes, mapping, neighbours."""

    mapping: Annotated[
        str | None,
        typer.Option(
            metavar="MACHINE",
            help='Machine for pictures and hierarchical algorithms, as in "node:4 core:8".',
        ),
    ] = None
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="sequential|cyclic|LIST",
            help="Mapping of ranks to these nodes; 0,0,1,1 names the node of each rank.",
            autocompletion=complete(("sequential", "cyclic")),
        ),
    ] = None
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="GRAPH",
            help="Graph of neighborhood collectives: cart, torus or moore with sizes, as in torus:4x4, or "
            "random:DEGREE.",
        ),
    ] = None

    @property
    def where(self) -> Where:
        refuse_empty("--mapping", self.mapping, '"node:4 core:8"')
        refuse_empty("--placement", self.placement, "cyclic")
        refuse_empty("--graph", self.graph, "torus:4x4")
        machine = self.mapping or ""
        placement = self.placement or ("sequential" if machine else "")
        return {"machine": machine, "placement": placement, "graph": self.graph or ""}


@dataclass(frozen=True)
class View:
    """Output: format, file, and options of one format."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(FORMATS),
            help="Format. Default: that of the file name's suffix, otherwise text.",
            autocompletion=complete(FORMATS),
        ),
    ] = None
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file.")] = None
    steps: Annotated[bool, typer.Option("--steps", help="Text: show every step with its dependencies.")] = (
        False
    )
    rank: Annotated[str | None, typer.Option(metavar="R", help="Text: show this rank only.")] = None
    rings: Annotated[
        bool, typer.Option("--rings", help="Picture: colour the rings that the messages of a round form.")
    ] = False
    rounds: Annotated[
        str | None,
        typer.Option("--rounds", metavar="LIST", help="Picture: draw these rounds only, as in 0-2."),
    ] = None
    width: Annotated[
        str | None,
        typer.Option(
            "--width",
            metavar="PIXELS",
            help="Picture: lay the rounds out in rows of this width, as in 400 for a narrow window; one "
            "round is never divided. Default: rows of 1200, wider for many rounds.",
        ),
    ] = None
    bytes: Annotated[
        str | None, typer.Option("--bytes", metavar="SIZE", help="GOAL: bytes per block, as in 4KiB.")
    ] = None

    def chosen_format(self) -> str:
        """Returns the format; refuses options of other formats."""
        wanted = _format_of(self.format, self.output)
        given = {
            "steps": self.steps and "text",
            "rank": self.rank is not None and "text",
            "rings": self.rings and "svg",
            "rounds": self.rounds is not None and "svg",
            "width": self.width is not None and "svg",
            "bytes": self.bytes is not None and "goal",
        }
        for option, only in given.items():
            if only and only != wanted:
                raise RequestError(f"--{option} is for --format {only}, not {wanted}; leave it out")
        return wanted


@parameters.with_parameters
@grouped
def show(
    collective: Collective,
    algorithm: Algorithm,
    procs: Annotated[str, typer.Option("-p", "--procs", metavar="P", help="Number of processes.")],
    options: list[tuple[str, str]],
    call: Call,
    place: Place,
    view: View,
) -> None:
    wanted = view.chosen_format()
    collective = collectives.check_collective(collective)
    if view.bytes is not None and collective == "barrier":
        raise RequestError("messages of a barrier have no bytes; leave out --bytes")
    spec = _core.spec(collective, algorithm, options)
    number = parsing.parse_number(procs, "--procs", 1, parsing.MOST_PROCS)
    if wanted != "svg" and not algorithms.depends_on_nodes(collective, spec):
        for option, value in (("mapping", place.mapping), ("placement", place.placement)):
            if value is not None:
                raise RequestError(
                    f"--{option} is for --format svg and for hierarchical algorithms; leave it out"
                )
    request = _core.ScheduleRequest(
        collective=collective,
        spec=spec,
        procs=number,
        root=check_root(collective, call.root, number),
        in_place=call.in_place,
        arrivals=parsing.parse_arrivals(call.arrivals, number) if call.arrivals is not None else [],
        **place.where,
    )
    _hand_over(PRINTERS[wanted](request, view), wanted, view.output)


def _format_of(wanted: str | None, output: Path | None) -> str:
    """The given format; otherwise that of the file name's suffix; otherwise text."""
    if wanted is None:
        suffix = output.suffix if output else ""
        if suffix and suffix not in SUFFIXES:
            raise RequestError(
                f"cannot derive a format from the name {output}; end it in {', '.join(SUFFIXES)}, or give "
                "--format"
            )
        return SUFFIXES.get(suffix, "text")
    if wanted not in FORMATS:
        raise RequestError(_core.no_such("format", wanted, FORMATS))
    return wanted


def _text(request: _core.ScheduleRequest, view: View) -> str:
    number = None if view.rank is None else parsing.parse_number(view.rank, "--rank", 0, request.procs - 1)
    return _core.text(request, steps=view.steps, rank=number)


def _json(request: _core.ScheduleRequest, _view: View) -> str:
    return _core.json(request)


def _goal(request: _core.ScheduleRequest, view: View) -> str:
    return _core.goal(request, bytes=_core.size("1" if view.bytes is None else view.bytes))


def _svg(request: _core.ScheduleRequest, view: View) -> str:
    rounds = (
        [] if view.rounds is None else parsing.parse_numbers(view.rounds, "--rounds", 0, parsing.MOST_PROCS)
    )
    width = parsing.parse_number(view.width, "--width", *WIDTHS) if view.width is not None else 0
    return _core.svg(request, rings=view.rings, rounds=rounds, width=width)


PRINTERS = {"text": _text, "json": _json, "goal": _goal, "svg": _svg}


def _hand_over(text: str, wanted: str, output: Path | None) -> None:
    text = text if text.endswith("\n") else text + "\n"
    if output is None:
        print(text if wanted != "text" else tables.refolded(text, console.text_width()), end="")
    else:
        console.write_file(output, text)


def register(app: typer.Typer) -> None:
    app.command("show", help=HELP)(show)
