# SPDX-License-Identifier: BSD-3-Clause
"""convene cluster: several emulated nodes on one Linux machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from convene._core import RequestError
from convene.base import console, parsing, text
from convene.cli import options
from convene.cluster import launch, lifecycle, rates, tools
from convene.cluster import private as private_nodes
from convene.cluster.state import (
    LAUNCHING,
    MOST_NODES,
    Cluster,
    Shape,
    as_json,
    check_name,
    find,
    host_of,
    known,
    load,
)
from convene.run.processes import execute

HELP = """Emulates several nodes on one Linux machine, to run MPI programs over a network.

A node has its own network, host name, shared memory and semaphores. All nodes share the machine's files, \
memory and cores; with --private, each has its own /tmp, home and working directory. Links between nodes may \
have a rate and a delay. Needs root.

[bold]Examples[/bold]

  convene cluster up --nodes 4 --slots 2 --rate 200mbit

  convene cluster run -- mpirun -n 8 ./app

  convene cluster run -- convene run --use allgather=sparbit -- mpirun -n 8 ./app

  convene cluster down
"""

UP_HELP = """Creates a cluster: nodes n0, n1, … on one switch.

--rate limits each node's link in both directions. --delay is added to each message, one way. --groups \
divides the nodes into racks; --group-delay is added to messages between them. --private gives each node \
its own empty /tmp, home and working directory, and adds a launching machine, which is not a node.

[bold]Examples[/bold]

  convene cluster up --nodes 4

  convene cluster up --nodes 4 --slots 2 --private

  convene cluster up --nodes 4 --slots 2 --rate 200mbit --delay 500us

  convene cluster up --nodes 8 --groups 2 --delay 200us --group-delay 1ms --name racks
"""

RUN_HELP = """Runs a command in a node; MPI launchers started there use all nodes.

The exit status is that of the command. With --nodes, creates a cluster for this command and removes it \
afterwards. In a --private cluster, the command runs on the launching machine.

[bold]Examples[/bold]

  convene cluster run -- mpirun -n 8 ./app

  convene cluster run --nodes 4 --delay 1ms -- mpirun -n 4 ./app

  convene cluster run --nodes 4 --private -- convene run -- mpirun -n 4 /opt/app

  convene cluster run --on 1 -- ip address
"""

STATUS_HELP = """Lists the clusters with the number of programs that run in them.

[bold]Examples[/bold]

  convene cluster status

  convene cluster status --json
"""

DOWN_HELP = """Removes a cluster, and ends the programs that run in it.

[bold]Examples[/bold]

  convene cluster down

  convene cluster down --name racks

  convene cluster down --all
"""


def complete_name(incomplete: str) -> list[str]:
    return [name for name in known() if name.startswith(incomplete)]


Name = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Name of the cluster; several may exist.", autocompletion=complete_name
    ),
]

Slots = Annotated[int, typer.Option(min=1, max=256, metavar="N", help="Ranks per node, for launchers.")]

Rate = Annotated[
    str | None,
    typer.Option(metavar="RATE", help="Rate of each node's link, such as 200mbit. Default: no limit."),
]

Delay = Annotated[
    str | None, typer.Option(metavar="TIME", help="One-way delay of each message, such as 500us.")
]

Groups = Annotated[int, typer.Option(min=1, metavar="N", help="Number of groups (racks) of nodes.")]

GroupDelay = Annotated[
    str | None, typer.Option(metavar="TIME", help="Additional delay between groups, such as 1ms.")
]


Private = Annotated[
    bool,
    typer.Option(
        "--private",
        help="Give each node its own empty /tmp, home and working directory, and add a launching machine.",
    ),
]


def make_shape(
    nodes: int,
    slots: int,
    rate: str | None,
    delay: str | None,
    groups: int,
    group_delay: str | None,
    private: bool,
) -> Shape:
    if groups > nodes:
        raise RequestError(f"--groups {groups} exceeds the number of nodes, {nodes}; try fewer groups")
    if (groups > 1) != (group_delay is not None):
        raise RequestError("--groups and --group-delay are used together; give both or neither")
    return Shape(
        nodes,
        slots,
        rates.parse_rate(rate) if rate else 0,
        parsing.parse_seconds(delay, "--delay") if delay else 0,
        groups,
        parsing.parse_seconds(group_delay, "--group-delay") if group_delay else 0,
        private,
    )


def links_text(shape: Shape) -> str:
    parts = [f"{shape.rate / 1e6:g} Mbit/s"] if shape.rate else []
    parts += [f"{text.seconds_text(shape.delay)} one way"] if shape.delay else []
    if shape.groups > 1:
        parts.append(f"{text.seconds_text(shape.group_delay)} more between {shape.groups} groups")
    return ", ".join(parts) or "without limit"


def up(
    nodes: Annotated[
        int, typer.Option("-n", "--nodes", min=2, max=MOST_NODES, metavar="N", help="Number of nodes.")
    ],
    slots: Slots = 1,
    rate: Rate = None,
    delay: Delay = None,
    groups: Groups = 1,
    group_delay: GroupDelay = None,
    private: Private = False,
    name: Name = "default",
) -> None:
    shape = make_shape(nodes, slots, rate, delay, groups, group_delay, private)
    made = lifecycle.up(check_name(name), shape)
    last = host_of(nodes - 1)
    files = f"; own {', '.join(made.private)}, launching machine {LAUNCHING}" if private else ""
    console.make().print(f"{made.name}: n0 … {last}, {slots} ranks each, links {links_text(shape)}{files}")


def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND...", help="Command, such as a launcher with its program."),
    ],
    on: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="NODE",
            help="Number of the node in which the command runs. Default: 0, or the launching machine.",
        ),
    ] = None,
    name: Name = "default",
    nodes: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--nodes",
            min=2,
            max=MOST_NODES,
            metavar="N",
            help="Create a cluster of N nodes for this command only.",
        ),
    ] = None,
    slots: Slots = 1,
    rate: Rate = None,
    delay: Delay = None,
    groups: Groups = 1,
    group_delay: GroupDelay = None,
    private: Private = False,
) -> None:
    if nodes is not None:
        shape = make_shape(nodes, slots, rate, delay, groups, group_delay, private)
        with lifecycle.temporary(f"run-{os.getpid()}", shape) as own:
            status = run_in(own, on, command)
    elif slots != 1 or rate or delay or groups != 1 or group_delay or private:
        raise RequestError(
            "--slots, --rate, --delay, --groups and --private are for a new cluster; add --nodes"
        )
    else:
        status = run_in(find(check_name(name)), on, command)
    raise typer.Exit(status)


def run_in(where: Cluster, node: int | None, command: list[str]) -> int:
    if node is not None and node >= where.shape.nodes:
        raise RequestError(
            f"--on {node} is out of range: the cluster '{where.name}' has nodes 0 to {where.shape.nodes - 1}"
        )
    tools.check_root()
    if where.shape.private:
        private_nodes.use_working_directory(where, Path.cwd())
    environment = {**os.environ, **launch.variables(where)}
    machine = where.starts_on if node is None else node
    return execute(launch.command_line(where, machine, command), environment)


def status(json: options.Json = False) -> None:
    clusters = [found for name in known() if (found := load(name))]
    if json:
        console.print_json([as_json(each) for each in clusters])
        return
    numbers = ("nodes", "slots", "programs")
    table = console.table("Emulated clusters", "name", *numbers, "links", "state", numbers=numbers)
    for each in clusters:
        shape = each.shape
        programs = str(each.processes()) if each.is_up else "0"
        state = "up" if each.is_complete else "incomplete"
        state = state if each.is_up else "ended; remove it with 'convene cluster down'"
        table.add_row(each.name, str(shape.nodes), str(shape.slots), programs, links_text(shape), state)
    console.make().print(table if clusters else "no cluster is up")


def down(
    name: Name = "default",
    every: Annotated[bool, typer.Option("--all", help="Remove all clusters.")] = False,
) -> None:
    if every and name != "default":
        raise RequestError("--name and --all contradict each other; leave one out")
    if name not in ("default", *known()):
        there = "; there are: " + ", ".join(known()) if known() else ""
        raise RequestError(f"there is no cluster '{check_name(name)}'{there}")
    for each in known() if every else [name]:
        found = load(each)
        if found is None:
            console.complain(f"there is no cluster '{each}'")
            continue
        tools.check_root()
        lifecycle.remove(found)
        console.make().print(f"{each}: removed")


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.command("up", help=UP_HELP)(up)
    group.command("run", help=RUN_HELP)(run)
    group.command("status", help=STATUS_HELP)(status)
    group.command("down", help=DOWN_HELP)(down)
    app.add_typer(group, name="cluster", help=HELP)
