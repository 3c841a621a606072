# SPDX-License-Identifier: BSD-3-Clause
"""convene kernel: what the communication of a computational kernel costs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.cli import options
from convene.cli.commands.predict import time_text
from convene.model import kernels, platform_files
from convene.model.kernels import Kernel
from convene.model.platform_files import NONE

HELP = """Says what communication that is no plan of messages between ranks costs under τ-Lop.

summa: a matrix multiplication, for any partition. LAYOUT has a line for each process, its node first (a \
FuPerMod configuration); PARTITION one for each column of rectangles: its width in blocks, then process and \
height of each rectangle from the top, as in 149: 4 139, 5 117. Sizes in the expression are blocks.

shared_bcast, shared_reduce, in_situ_reduce: collectives within a node that move data through shared memory, \
for -p processes and --segments segments.

With a platform there is a time, too.

[bold]Examples[/bold]

  convene kernel summa examples/summa/config1.layout examples/summa/config1.partition

  convene kernel summa config2.layout config2.partition --compare config2.layout config2_mod.partition

  convene kernel shared_bcast -p 8 --segments 4 --platform metropolis
"""

SUMMA = "summa"
SHARED = ("shared_bcast", "shared_reduce", "in_situ_reduce")
KERNELS = (SUMMA, *SHARED)
MOST_PROCS = 1 << 16
MOST_SEGMENTS = 1 << 20
MOST_BLOCK = 10_000
MOST_BYTES = (1 << 32) - 1


def relation(first: Kernel, second: Kernel) -> tuple[str, bool]:
    """How two costs relate, and whether that holds only where the network is no faster than memory."""
    for farther_is_slower in (False, True):
        found = _core.compare_summa(
            first.columns, first.nodes, second.columns, second.nodes, farther_is_slower
        )
        if found != "?":
            return found, farther_is_slower
    return "?", False


def relation_text(found: tuple[str, bool]) -> str:
    if found[0] == "?":
        return "which one costs more depends on the machine"
    where = "where the network is no faster than memory" if found[1] else "on every machine"
    return f"the first {found[0]} the second, {where} (transfers only, without overheads)"


def run(
    context: typer.Context,
    kernel: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL",
            help="|".join(KERNELS),
            autocompletion=lambda incomplete: [name for name in KERNELS if name.startswith(incomplete)],
        ),
    ],
    layout: Annotated[
        Path | None, typer.Argument(metavar="[LAYOUT", help="summa: which process runs on which node.")
    ] = None,
    partition: Annotated[
        Path | None, typer.Argument(metavar="PARTITION]", help="summa: who has which rectangle.")
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="LAYOUT PARTITION", help="summa: which one costs more, if that can be said."),
    ] = None,
    procs: Annotated[
        str | None, typer.Option("-p", "--procs", metavar="P", help="Not summa: number of processes.")
    ] = None,
    degree: Annotated[str, typer.Option(metavar="G", help="shared_bcast: children in the tree.")] = "2",
    segments: Annotated[str, typer.Option(metavar="K", help="shared_bcast, and for times.")] = "4",
    segment: Annotated[str, typer.Option(metavar="SIZE", help="Bytes of a segment, for times.")] = "8KiB",
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Whose parameters: for a time.", autocompletion=platform_files.complete
        ),
    ] = None,
    block: Annotated[
        str, typer.Option(metavar="B", help="summa: a block has B rows of B numbers of double precision.")
    ] = "64",
    latex: Annotated[bool, typer.Option("--latex", help="The expression for LaTeX.")] = False,
    json: options.Json = False,
) -> None:
    if kernel not in KERNELS:
        raise RequestError(_core.no_such("kernel", kernel, KERNELS))
    file = platform_files.load(platform) if platform else NONE
    found: dict[str, Any]
    if kernel == SUMMA:
        options.refuse(context, ["procs", "degree", "segments", "segment"], SUMMA)
        if layout is None or partition is None:
            raise RequestError("summa needs two files, LAYOUT and PARTITION")
        side = parsing.parse_number(block, "--block", 1, MOST_BLOCK)
        one = kernels.read(layout, partition)
        found = dict(_core.summa(one.columns, one.nodes, side * side * 8, file.text, file.origin, latex))
        if compare:
            related, conditional = relation(one, kernels.read(*compare))
            found |= {"relation": related, "if_memory_is_faster": conditional}
    else:
        idle = ["compare", "block"] if kernel == "shared_bcast" else ["compare", "block", "degree"]
        options.refuse(context, idle, kernel)
        if layout is not None or procs is None:
            raise RequestError(f"{kernel} takes no files, but a number of processes: -p 8")
        number = parsing.parse_number(procs, "--procs", 1, MOST_PROCS)
        found = dict(
            _core.shared_memory(
                kernel,
                number,
                parsing.parse_number(degree, "--degree", 1, max(number, 2)),
                parsing.parse_number(segments, "--segments", 1, MOST_SEGMENTS),
                bytes_of(segment),
                file.text,
                file.origin,
                latex,
            )
        )
    if json:
        return console.print_json(found)
    return show(found)


def bytes_of(segment: str) -> int:
    size = _core.size(segment)
    if not 1 <= size <= MOST_BYTES:
        raise RequestError(f"--segment {segment} is out of range; give 1 to 4294967295 bytes, such as 8KiB")
    return size


def show(found: dict[str, Any]) -> None:
    for name in ("rows", "columns", "total"):
        if name in found:
            print(f"{name + ':':8} {found[name]}")
    if "seconds" in found:
        print(f"time:    {time_text(found['seconds'])}")
    if "relation" in found:
        print(relation_text((found["relation"], found["if_memory_is_faster"])))


def register(app: typer.Typer) -> None:
    app.command("kernel", help=HELP)(run)
