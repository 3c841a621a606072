# SPDX-License-Identifier: BSD-3-Clause
"""convene kernel: communication costs of computational kernels."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.base.core_types import SharedMemoryCost, SummaCost
from convene.cli.groups import grouped
from convene.cli.options import Json, complete, refuse
from convene.cli.prediction_output import time_text
from convene.model import kernels, platform_files
from convene.model.kernels import Kernel
from convene.model.platform_files import NONE, PlatformFile

HELP = """Predicts the communication cost of computational kernels under τ-Lop.

summa is a matrix multiplication with any partition. LAYOUT has a line for each process, which begins with \
its node (a FuPerMod configuration). PARTITION has a line for each column of rectangles: its width in \
blocks, then process and height of each rectangle from the top, as in 149: 4 139, 5 117. Sizes in the \
expression of summa are in blocks.

shared_bcast, shared_reduce and in_situ_reduce are collectives of -p processes of one node through shared \
memory, with --segments segments. In their expressions S is a segment and m the whole vector.

The output is an expression; with --platform, also a time.

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
    """The relation of two costs, and whether it holds only if the network is no faster than memory."""
    for farther_is_slower in (False, True):
        found = _core.compare_summa(first.request, second.request, farther_is_slower)
        if found != "?":
            return found, farther_is_slower
    return "?", False


def relation_text(found: tuple[str, bool]) -> str:
    if found[0] == "?":
        return "the machine determines which one costs more"
    where = "if the network is no faster than memory" if found[1] else "on every machine"
    return f"the first {found[0]} the second, {where} (transfers only, without overheads)"


@dataclass(frozen=True)
class Summa:
    """summa: matrix multiplication."""

    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="LAYOUT PARTITION",
            help="Prove which of two partitions costs more on every machine, if that can be decided.",
        ),
    ] = None
    block: Annotated[
        str, typer.Option(metavar="B", help="Size of a block, in rows and columns of doubles.")
    ] = "64"


@dataclass(frozen=True)
class Shared:
    """Collectives in shared memory: ranks, tree, segments."""

    procs: Annotated[str | None, typer.Option("-p", "--procs", metavar="P", help="Number of processes.")] = (
        None
    )
    degree: Annotated[str, typer.Option(metavar="G", help="shared_bcast: degree of the tree.")] = "2"
    segments: Annotated[
        str, typer.Option(metavar="K", help="Number of segments, for shared_bcast and for times.")
    ] = "4"
    segment: Annotated[str, typer.Option(metavar="SIZE", help="Size of a segment, for times.")] = "8KiB"


@grouped
def run(
    context: typer.Context,
    kernel: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL", help=f"Kernel: {', '.join(KERNELS)}.", autocompletion=complete(KERNELS)
        ),
    ],
    summa: Summa,
    shared: Shared,
    layout: Annotated[
        Path | None, typer.Argument(metavar="[LAYOUT", help="summa: file with the node of each process.")
    ] = None,
    partition: Annotated[
        Path | None,
        typer.Argument(metavar="PARTITION]", help="summa: file with the rectangles of each process."),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Platform with the model parameters, for times.",
            autocompletion=platform_files.complete,
        ),
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Write the expression for LaTeX.")] = False,
    json: Json = False,
) -> None:
    if kernel not in KERNELS:
        raise RequestError(_core.no_such("kernel", kernel, KERNELS))
    file = platform_files.load(platform) if platform else NONE
    found: Cost
    if kernel == SUMMA:
        refuse(context, ["procs", "degree", "segments", "segment"], SUMMA)
        if layout is None or partition is None:
            raise RequestError("summa needs two files, LAYOUT and PARTITION")
        found = summa_cost(summa, kernels.read(layout, partition), file, latex)
    else:
        idle = ["compare", "block"] if kernel == "shared_bcast" else ["compare", "block", "degree"]
        refuse(context, idle, kernel)
        if layout is not None or shared.procs is None:
            raise RequestError(f"{kernel} needs -p PROCESSES, as in -p 8, and no files")
        found = shared_cost(kernel, shared.procs, shared, file, latex)
    if json:
        console.print_json(found)
    else:
        show(found)


class Compared(SummaCost, total=False):
    """Cost with the relation to a second kernel."""

    relation: str
    if_memory_is_faster: bool


Cost = Compared | SharedMemoryCost


def summa_cost(summa: Summa, one: Kernel, file: PlatformFile, latex: bool) -> Compared:
    side = parsing.parse_number(summa.block, "--block", 1, MOST_BLOCK)
    found = cast(Compared, _core.summa(one.request, side * side * 8, file.if_given, latex))
    if summa.compare:
        found["relation"], found["if_memory_is_faster"] = relation(one, kernels.read(*summa.compare))
    return found


def shared_cost(kernel: str, procs: str, shared: Shared, file: PlatformFile, latex: bool) -> SharedMemoryCost:
    number = parsing.parse_number(procs, "--procs", 1, MOST_PROCS)
    request = _core.SharedMemoryRequest(
        name=kernel,
        procs=number,
        degree=parsing.parse_number(shared.degree, "--degree", 1, max(number, 2)),
        segments=parsing.parse_number(shared.segments, "--segments", 1, MOST_SEGMENTS),
        segment=bytes_of(shared.segment),
    )
    return _core.shared_memory(request, file.if_given, latex)


def bytes_of(segment: str) -> int:
    size = _core.size(segment)
    if not 1 <= size <= MOST_BYTES:
        raise RequestError(f"--segment {segment} is out of range; give 1 to 4294967295 bytes, such as 8KiB")
    return size


def show(found: Cost) -> None:
    for name, text in found.items():
        if name in ("rows", "columns", "total"):
            print(f"{name + ':':8} {text}")
    if "seconds" in found:
        print(f"time:    {time_text(found['seconds'])}")
    if "relation" in found:
        compared = cast(Compared, found)
        print(relation_text((compared["relation"], compared["if_memory_is_faster"])))


def register(app: typer.Typer) -> None:
    app.command("kernel", help=HELP)(run)
