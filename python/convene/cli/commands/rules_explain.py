# SPDX-License-Identifier: BSD-3-Clause
"""convene rules explain: what decides a call, and why the other rules and entries of wisdom do not."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.base.core_types import Explained
from convene.base.text import bytes_text
from convene.catalogue.collectives import check_collective
from convene.cli import completion, explaining
from convene.cli.explaining import AskedCall, Sources
from convene.cli.groups import grouped
from convene.cli.options import Collective, Json

HELP = """Explains which rule, entry of wisdom or default decides a call, and why each other one does not.

The library's own code decides, by its order of precedence: --use, rules in the order of the file, wisdom, \
native. Settings that are not given come from the environment (CONVENE_USE, CONVENE_RULES, CONVENE_WISDOM), \
as in a program. Nothing is run. Ranks are in equal parts on the nodes. Learning, which may change a choice \
during a run, is left out. Exit status: 0 explained, 2 wrong request or file, or a forced algorithm that \
cannot run.

[bold]Examples[/bold]

  convene rules explain allgather -p 6 --bytes 4KiB --rules rules.json

  convene rules explain reduce -p 8 --bytes 64KiB --order-dependent

  convene rules explain bcast -p 16 --bytes 1MiB --mpi 'Open MPI 4.1.4' --json
"""


def call_text(call: AskedCall, explained: Explained) -> str:
    nodes = f"{call.nodes} node{'' if call.nodes == 1 else 's'}"
    what = "vector" if _core.has_one_vector(call.collective) else "block"
    size = f", {what} of {bytes_text(explained['bytes'])}" if explained["has_bytes"] else ""
    ranks = f"{call.procs} rank{'' if call.procs == 1 else 's'}"
    return f"{call.collective}, {ranks} on {nodes}{size}"


def notes_of(call: AskedCall, explained: Explained) -> list[str]:
    """Sentences below the table."""
    steps, notes = explained["steps"], list(explained["refusals"])
    others = sum(step["collective"] != call.collective for step in steps)
    if others:
        subject = "1 rule or entry is" if others == 1 else f"{others} rules or entries are"
        notes.insert(0, f"{subject} for other collectives.")
    if call.bytes and not explained["has_bytes"]:
        notes.append(f"Rules and wisdom see 0 bytes in {call.collective}: not all ranks know its sizes.")
    has_wisdom = any(step["source"] == "wisdom" and step["collective"] == call.collective for step in steps)
    if has_wisdom and _core.is_reduction(call.collective) and call.commutative and not call.order_matters:
        notes.append("For floating-point sums and products, add --order-dependent.")
    return notes


def show(call: AskedCall, explained: Explained) -> None:
    console.say(f"{call_text(call, explained)}: {explained['algorithm']} ({explained['reason']})")
    table = console.table("Considered, in this order", "choice", "algorithm", "result")
    steps = [step for step in explained["steps"] if step["collective"] == call.collective]
    for step in steps:
        table.add_row(step["name"], step["use"], step["obstacle"] or "decides")
    is_decided = any(not step["obstacle"] for step in steps)
    table.add_row("default", "native", "not reached" if is_decided else "decides")
    console.make().print(table, markup=False)
    for note in notes_of(call, explained):
        console.say(note)


@dataclass(frozen=True)
class Settings:
    """What decides."""

    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=ALGORITHM,...",
            help="Forced algorithms.",
            autocompletion=completion.complete_use,
        ),
    ] = None
    rules: Annotated[Path | None, typer.Option(metavar="FILE", help="Rules file of Convene.")] = None
    wisdom: Annotated[
        str | None,
        typer.Option(metavar="FILE|none", help="Wisdom. Default: the files that the library reads."),
    ] = None
    mpi: Annotated[
        str | None,
        typer.Option(
            "--mpi", metavar="NAME", help="MPI of wisdom, as in 'Open MPI 4.1.4'. Default: that of mpirun."
        ),
    ] = None


@dataclass(frozen=True)
class Form:
    """The form of the call, and its operator."""

    order_dependent: Annotated[
        bool,
        typer.Option(
            "--order-dependent",
            help="The order of operands changes the result: floating-point sums and products, operators of "
            "the program.",
        ),
    ] = False
    non_commutative: Annotated[
        bool, typer.Option("--non-commutative", help="The operator does not commute.")
    ] = False
    nonblocking: Annotated[bool, typer.Option("--nonblocking", help="A non-blocking or persistent call.")] = (
        False
    )
    reproducible: Annotated[
        bool, typer.Option("--reproducible", help="As with convene run --reproducible.")
    ] = False

    def check(self, collective: str) -> None:
        given = (("--order-dependent", self.order_dependent), ("--non-commutative", self.non_commutative))
        for option, is_given in given:
            if is_given and not _core.is_reduction(collective):
                raise RequestError(f"{collective} has no operator; leave out {option}")


def as_json(call: AskedCall, explained: Explained, mpi: str) -> dict[str, object]:
    steps = [{**step, "decides": not step["obstacle"]} for step in explained["steps"]]
    return {
        "collective": call.collective,
        "procs": call.procs,
        "nodes": call.nodes,
        "ranks_per_node": explained["ranks_per_node"],
        "bytes": explained["bytes"],
        "mpi": mpi,
        "algorithm": explained["algorithm"],
        "reason": explained["reason"],
        "steps": steps,
        "messages": explained["refusals"],
    }


@grouped
def explain(
    name: Collective,
    procs: Annotated[str, typer.Option("-p", "--procs", metavar="P", help="Number of ranks.")],
    settings: Settings,
    form: Form,
    size: Annotated[
        str | None,
        typer.Option("--bytes", metavar="N", help="Bytes of one block, or of the vector, as in rules: 4KiB."),
    ] = None,
    nodes: Annotated[str, typer.Option(metavar="K", help="Number of nodes.")] = "1",
    json: Json = False,
) -> None:
    collective = check_collective(name)
    number = parsing.parse_number(procs, "--procs", 1, parsing.MOST_PROCS)
    form.check(collective)
    call = AskedCall(
        collective=collective,
        procs=number,
        nodes=parsing.parse_number(nodes, "--nodes", 1, number),
        bytes=None if size is None else _core.size(size),
        commutative=not form.non_commutative,
        order_matters=form.order_dependent,
        blocking=not form.nonblocking,
        reproducible=form.reproducible,
    )
    sources = Sources(settings.use or [], settings.rules, settings.wisdom, settings.mpi)
    explained, mpi = explaining.explain(call, sources)
    if json:
        console.print_json(as_json(call, explained, mpi))
    else:
        show(call, explained)
