# SPDX-License-Identifier: BSD-3-Clause
"""convene show: one plan, as text, JSON, picture or GOAL."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from convene import _core, arguments, console
from convene._core import RequestError

HELP = """Shows the schedules of all ranks.

[bold]Examples[/bold]

  convene show allgather sparbit -p 8

  convene show allgather bruck -p 9 --ports 2

  convene show allgather 'sparbit;send=packed' -p 8 -o sparbit.svg

  convene show allgather sparbit -p 16 --rings --mapping "node:4 core:4" -o rings.svg

  convene show allgatherv ring -p 4 --steps --rank 0
"""


class Format(StrEnum):
    text = "text"
    json = "json"
    svg = "svg"
    goal = "goal"


SUFFIXES = {".txt": Format.text, ".json": Format.json, ".svg": Format.svg, ".goal": Format.goal}


def _format_of(wanted: Format | None, output: Path | None) -> Format:
    """What was asked for, else what the file's name says, else text."""
    if wanted is not None:
        return wanted
    return SUFFIXES.get(output.suffix, Format.text) if output else Format.text


def _check_root(collective: str, root: int | None) -> int:
    if root is not None and not _core.is_rooted(collective):
        raise RequestError(f"{collective} has no root; leave out --root {root}")
    return root or 0


@arguments.with_parameters
def show(
    collective: arguments.Collective,
    algorithm: arguments.Algorithm,
    procs: Annotated[
        int, typer.Option("-p", "--procs", help="Number of processes.", min=1, max=arguments.MOST_PROCS)
    ],
    options: list[tuple[str, str]],
    root: Annotated[int | None, typer.Option(help="The root, for collectives that have one.", min=0)] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="As with MPI_IN_PLACE.")] = False,
    format: Annotated[  # noqa: A002
        Format | None, typer.Option("--format", "-f", help="Default: what the file's name says, else text.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file.")] = None,
    steps: Annotated[bool, typer.Option("--steps", help="Text: every step and what it waits for.")] = False,
    rank: Annotated[int | None, typer.Option(help="Text: this rank alone.", min=0)] = None,
    rings: Annotated[
        bool, typer.Option("--rings", help="Picture: colour the rings that messages form.")
    ] = False,
    mapping: Annotated[
        str, typer.Option(metavar="MACHINE", help='Picture: show what crosses nodes of "node:4 core:8".')
    ] = "",
    placement: Annotated[
        str,
        typer.Option(
            metavar="sequential|cyclic|LIST", help="Picture: which rank sits where; 0,0,1,1 lists nodes."
        ),
    ] = "",
    round: Annotated[  # noqa: A002
        str, typer.Option("--round", metavar="LIST", help="Picture: only these rounds, as in 0-2.")
    ] = "",
    bytes: Annotated[  # noqa: A002
        str, typer.Option("--bytes", metavar="SIZE", help="GOAL: bytes per block, as in 4KiB.")
    ] = "1",
) -> None:
    collective = arguments.check_collective(collective)
    spec = _core.spec(collective, algorithm, options)
    call = (collective, spec, procs, _check_root(collective, root), in_place)
    wanted = _format_of(format, output)
    _refuse_useless(wanted, steps=steps, rank=rank, rings=rings, mapping=mapping or placement, round=round)
    match wanted:
        case Format.text:
            text = _core.text(*call, steps=steps, rank=rank)
        case Format.json:
            text = _core.json(*call)
        case Format.goal:
            text = _core.goal(*call, bytes=_core.size(bytes))
        case Format.svg:
            rounds = arguments.parse_numbers(round, "--round", 0, arguments.MOST_PROCS) if round else []
            machine, seats = mapping, placement or ("sequential" if mapping else "")
            text = _core.svg(*call, rings=rings, machine=machine, placement=seats, rounds=rounds)
    _hand_over(text if text.endswith("\n") else text + "\n", output)


def _refuse_useless(wanted: Format, **given: object) -> None:
    """An option that this format cannot follow is a mistake, better said than ignored."""
    formats = {
        "steps": Format.text,
        "rank": Format.text,
        "rings": Format.svg,
        "mapping": Format.svg,
        "round": Format.svg,
    }
    for option, value in given.items():
        if value not in (None, False, "") and formats[option] is not wanted:
            raise RequestError(
                f"--{option} is for --format {formats[option].value}, and the format here is {wanted.value}"
            )


def _hand_over(text: str, output: Path | None) -> None:
    if output is None:
        print(text, end="")
    else:
        console.write_file(output, text)


def register(app: typer.Typer) -> None:
    app.command("show", help=HELP)(show)
