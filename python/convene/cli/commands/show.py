# SPDX-License-Identifier: BSD-3-Clause
"""convene show: one plan, as text, JSON, picture or GOAL."""

from pathlib import Path
from typing import Annotated, Any

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.base.core_types import Where
from convene.catalogue import algorithms, collectives
from convene.cli import parameters
from convene.cli.options import Algorithm, Collective

HELP = """Shows the schedules of all ranks.

[bold]Examples[/bold]

  convene show allgather sparbit -p 8

  convene show gather binomial -p 8 --root 3

  convene show allgather bruck -p 9 --ports 2

  convene show allgather 'sparbit;send=packed' -p 8 -o sparbit.svg

  convene show allgather sparbit -p 16 --rings --mapping "node:4 core:4" -o rings.svg

  convene show allgatherv ring -p 4 --steps --rank 0

  convene show allgather bdr -p 4 --arrivals 2,0,0,0

  convene show neighbor_allgather combining -p 12 --graph moore:4x3

  convene show allgather 'hier(sparbit,linear;leaders=2)' -p 8 --mapping "node:2 core:4"
"""

FORMATS = ("text", "json", "svg", "goal")
SUFFIXES = {".txt": "text", ".json": "json", ".svg": "svg", ".goal": "goal"}

# Options that one format alone can follow.
FORMAT_OF_OPTION = {
    "steps": "text",
    "rank": "text",
    "rings": "svg",
    "rounds": "svg",
    "bytes": "goal",
}


def _format_of(wanted: str | None, output: Path | None) -> str:
    """What was asked for, else what the file's name says, else text."""
    if wanted is None:
        suffix = output.suffix if output else ""
        if suffix and suffix not in SUFFIXES:
            raise RequestError(
                f"{output}: no format has files of that name; end it in one of {', '.join(SUFFIXES)}, or say "
                "which --format"
            )
        return SUFFIXES.get(suffix, "text")
    if wanted not in FORMATS:
        raise RequestError(_core.no_such("format", wanted, FORMATS))
    return wanted


def _check_root(collective: str, root: str | None, procs: int) -> int:
    if root is None:
        return 0
    if not _core.is_rooted(collective):
        raise RequestError(f"{collective} has no root; leave out --root {root}")
    return parsing.parse_number(root, "--root", 0, procs - 1)


@parameters.with_parameters
def show(
    collective: Collective,
    algorithm: Algorithm,
    procs: Annotated[str, typer.Option("-p", "--procs", metavar="P", help="Number of processes.")],
    options: list[tuple[str, str]],
    root: Annotated[
        str | None, typer.Option(metavar="R", help="The root, for collectives that have one.")
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="As with MPI_IN_PLACE.")] = False,
    arrivals: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="A forecast for algorithms that use one: when each rank comes, in rounds; 2,0,0,0 says that "
            "rank 0 comes two rounds after the others.",
        ),
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="|".join(FORMATS),
            help="Default: what the file's name says, else text.",
            autocompletion=lambda incomplete: [name for name in FORMATS if name.startswith(incomplete)],
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file.")] = None,
    steps: Annotated[bool, typer.Option("--steps", help="Text: every step and what it waits for.")] = False,
    rank: Annotated[str | None, typer.Option(metavar="R", help="Text: this rank alone.")] = None,
    rings: Annotated[
        bool, typer.Option("--rings", help="Picture: colour the rings that messages form.")
    ] = False,
    mapping: Annotated[
        str | None,
        typer.Option(
            metavar="MACHINE",
            help='For pictures and hierarchical algorithms: nodes, as in "node:4 core:8".',
        ),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="sequential|cyclic|LIST",
            help="Likewise: which rank sits where; 0,0,1,1 lists nodes.",
            autocompletion=lambda incomplete: [
                name for name in ("sequential", "cyclic") if name.startswith(incomplete)
            ],
        ),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="GRAPH",
            help="For neighborhood collectives: cart, torus or moore with sizes, as in torus:4x4, or "
            "random:DEGREE.",
        ),
    ] = None,
    rounds: Annotated[
        str | None, typer.Option("--rounds", metavar="LIST", help="Picture: only these rounds, as in 0-2.")
    ] = None,
    bytes: Annotated[  # noqa: A002
        str | None, typer.Option("--bytes", metavar="SIZE", help="GOAL: bytes per block, as in 4KiB.")
    ] = None,
) -> None:
    given: Given = {
        "steps": steps,
        "rank": rank,
        "rings": rings,
        "mapping": mapping,
        "placement": placement,
        "graph": graph,
        "rounds": rounds,
        "bytes": bytes,
    }
    wanted = _format_of(format, output)
    for option, value in given.items():
        if value not in (None, False) and FORMAT_OF_OPTION.get(option, wanted) != wanted:
            raise RequestError(
                f"--{option} is for --format {FORMAT_OF_OPTION[option]}, and the format here is {wanted}"
            )
    collective = collectives.check_collective(collective)
    if bytes is not None and collective == "barrier":
        raise RequestError("the messages of a barrier carry no bytes; leave out --bytes")
    spec = _core.spec(collective, algorithm, options)
    number = parsing.parse_number(procs, "--procs", 1, parsing.MOST_PROCS)
    uses_mapping = wanted == "svg" or algorithms.minds_nodes(collective, spec)
    for option in ("mapping", "placement"):
        if given[option] is not None and not uses_mapping:
            raise RequestError(f"--{option} is for --format svg and for algorithms that look at nodes")
    call = (collective, spec, number, _check_root(collective, root, number), in_place)
    given["arrivals"] = parsing.parse_arrivals(arrivals, number) if arrivals is not None else []
    _hand_over(PRINTERS[wanted](call, given), output)


Call = tuple[str, str, int, int, bool]
Given = dict[str, Any]


def _where(given: Given) -> Where:
    """On which machine the ranks are, and where, and who is whose neighbour; empty where nobody says."""
    machine = given["mapping"] or ""
    return {
        "machine": machine,
        "placement": given["placement"] or ("sequential" if machine else ""),
        "graph": given["graph"] or "",
    }


def _text(call: Call, given: Given) -> str:
    rank = given["rank"]
    number = None if rank is None else parsing.parse_number(rank, "--rank", 0, call[2] - 1)
    return _core.text(*call, steps=given["steps"], rank=number, arrivals=given["arrivals"], **_where(given))


def _json(call: Call, given: Given) -> str:
    return _core.json(*call, arrivals=given["arrivals"], **_where(given))


def _goal(call: Call, given: Given) -> str:
    size = _core.size(given["bytes"] or "1")
    return _core.goal(*call, bytes=size, arrivals=given["arrivals"], **_where(given))


def _svg(call: Call, given: Given) -> str:
    rounds = given["rounds"]
    return _core.svg(
        *call,
        rings=given["rings"],
        **_where(given),
        rounds=parsing.parse_numbers(rounds, "--rounds", 0, parsing.MOST_PROCS) if rounds else [],
        arrivals=given["arrivals"],
    )


PRINTERS = {"text": _text, "json": _json, "goal": _goal, "svg": _svg}


def _hand_over(text: str, output: Path | None) -> None:
    text = text if text.endswith("\n") else text + "\n"
    if output is None:
        print(text, end="")
    else:
        console.write_file(output, text)


def register(app: typer.Typer) -> None:
    app.command("show", help=HELP)(show)
