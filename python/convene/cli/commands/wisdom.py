# SPDX-License-Identifier: BSD-3-Clause
"""convene wisdom: lists, shows, merges, removes and checks measured choices."""

import os
from pathlib import Path
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console
from convene.base.text import bytes_text
from convene.catalogue import collectives
from convene.cli import completion
from convene.cli.options import Json, check_output
from convene.tune import wisdom_files
from convene.tune.wisdom_files import Entry

GROUP_HELP = """Lists, shows, merges and removes wisdom: measured choices with their evidence.

The library reads the files of CONVENE_WISDOM (paths separated by colons, or "none"), by default the user's \
file and /etc/convene/wisdom.json. An entry applies only to the MPI, processor and network of its \
measurement.

[bold]Examples[/bold]

  convene wisdom list

  convene wisdom show allgather

  convene wisdom merge site.json

  convene wisdom forget --mpi 'Open MPI 4.1.4'

  convene wisdom check site.json
"""

LIST_HELP = """Lists the wisdom files, with the number of entries for each MPI and processor.

With --json, prints the entries.

[bold]Examples[/bold]

  convene wisdom list

  convene wisdom list --json
"""

SHOW_HELP = """Shows the entries: choices, calls and evidence.

[bold]Examples[/bold]

  convene wisdom show allgather

  convene wisdom show --mpi 'Open MPI 4.1.4'
"""

MERGE_HELP = """Merges a wisdom file into that of the user; newer entries replace older ones.

[bold]Examples[/bold]

  convene wisdom merge site.json
"""

FORGET_HELP = """Removes entries: of a collective, of an MPI, or all with --all.

[bold]Examples[/bold]

  convene wisdom forget allgather

  convene wisdom forget --mpi 'Open MPI 4.1.4'
"""

CHECK_HELP = """Checks a wisdom file, and counts the entries that apply to this machine.

[bold]Examples[/bold]

  convene wisdom check site.json
"""

group = typer.Typer(help=GROUP_HELP, no_args_is_help=True, rich_markup_mode="rich")

VARIABLE = "CONVENE_WISDOM"
FILE_HELP = "Wisdom file. Default: the files that the library reads."
File = Annotated[Path | None, typer.Option("--file", metavar="FILE", help=FILE_HELP)]
Mpi = Annotated[
    str | None,
    typer.Option("--mpi", metavar="NAME", help="Entries of this MPI only, as in 'Open MPI 4.1.4'."),
]
Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[COLLECTIVE]",
        help="Entries of this collective only.",
        autocompletion=completion.complete_collective,
    ),
]


def files(given: Path | None) -> list[Path]:
    """The files that exist, of those that the library reads."""
    if given is None:
        return [path for path in wisdom_files.search_path() if path.is_file()]
    wisdom_files.check_file(given)
    return [given]


def no_file() -> str:
    """Why there is no wisdom file."""
    named = os.environ.get(VARIABLE)
    if not named:
        return "No wisdom file found; convene tune -n RANKS writes one."
    if named == "none":
        return f"{VARIABLE}=none: no wisdom file is read; unset the variable, or give --file FILE."
    return f"{VARIABLE}={named} names no file; unset the variable, or give --file FILE."


def unread(target: Path, file: Path | None) -> str:
    """That the library does not read the user's file, which a command has changed by default."""
    if file is not None or target in wisdom_files.search_path():
        return ""
    return f"; the library does not read it, because {VARIABLE}={os.environ.get(VARIABLE)}"


def check_mpi(mpi: str | None, entries: list[Entry]) -> None:
    """Refuses the name of an MPI without entries."""
    names = sorted({entry["mpi"] for entry in entries})
    if mpi is not None and mpi not in names:
        there = f"there are: {', '.join(names)}" if names else "there are none of any MPI"
        raise RequestError(f"no entries of MPI '{mpi}'; {there}")


def selected(entries: list[Entry], collective: str | None, mpi: str | None) -> list[Entry]:
    return [
        entry
        for entry in entries
        if collective in (None, entry["collective"]) and mpi in (None, entry["mpi"])
    ]


def sizes(entry: Entry) -> str:
    least, most = entry["bytes"]
    if most >= wisdom_files.NO_LIMIT:
        return f"from {bytes_text(least)} on" if least else "any size"
    return bytes_text(least) if least == most else f"{bytes_text(least)} to {bytes_text(most)}"


def count(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def method(entry: Entry) -> str:
    """How an entry was measured: "convene tune", "learned", or "guard" (native came back)."""
    evidence = entry.get("evidence", {})
    return str(evidence.get("how", "")) if isinstance(evidence, dict) else ""


@group.command("list", help=LIST_HELP)
def list_files(file: File = None, json: Json = False) -> None:
    found = {path: wisdom_files.read(path) for path in files(file)}
    if json:
        console.print_json({str(path): [*map(wisdom_files.as_json, each)] for path, each in found.items()})
        return
    if not found:
        console.say(no_file())
    for path, entries in found.items():
        places: dict[tuple[str, str, int], int] = {}
        for entry in entries:
            place = entry["mpi"], entry["cpu"], entry["cores"]
            places[place] = places.get(place, 0) + 1
        table = console.table(str(path), "MPI", "processor", "cores", "entries", numbers=("cores", "entries"))
        for (mpi, cpu, cores), number in places.items():
            table.add_row(mpi, cpu, str(cores), str(number))
        console.make().print(table, markup=False)


@group.command("show", help=SHOW_HELP)
def show(name: Name = None, file: File = None, mpi: Mpi = None, json: Json = False) -> None:
    collective = None if name is None else collectives.check_collective(name)
    found = files(file)
    every = [entry for path in found for entry in wisdom_files.read(path)]
    if found:
        check_mpi(mpi, every)
    entries = selected(every, collective, mpi)
    if json:
        console.print_json([*map(wisdom_files.as_json, entries)])
        return
    if not found:
        console.say(no_file())
        return
    table = console.table(
        "Wisdom (ratio: time over that of native)",
        *("collective", "ranks", "nodes", "block", "choice", "ratio", "upper end"),
        *("method", "measured", "MPI"),
        numbers=("ranks", "nodes", "ratio", "upper end"),
        optional=("measured", "upper end", "nodes", "MPI", "method"),
    )
    for entry in entries:
        table.add_row(
            entry["collective"],
            str(entry["procs"]),
            str(entry["nodes"]),
            sizes(entry),
            entry["use"],
            f"{entry['ratio']:.2f}",
            f"{entry['upper']:.2f}",
            method(entry),
            entry["measured"],
            entry["mpi"] + (", cores shared" if entry["shares_cores"] else ""),
        )
    console.make().print(table, markup=False)


@group.command("merge", help=MERGE_HELP)
def merge(source: Annotated[Path, typer.Argument(metavar="FILE")], file: File = None) -> None:
    check_output("--file", file, "")
    wisdom_files.check_file(source)
    new = wisdom_files.read(source)
    target = file or wisdom_files.user_file()
    entries = wisdom_files.update(target, lambda old: wisdom_files.merged(old, new))
    console.say(f"{target} now has {count(len(entries))}{unread(target, file)}")


@group.command("forget", help=FORGET_HELP)
def forget(
    name: Name = None,
    file: File = None,
    mpi: Mpi = None,
    every: Annotated[bool, typer.Option("--all", help="Remove all entries.")] = False,
) -> None:
    is_limited = name is not None or mpi is not None
    if not is_limited and not every:
        raise RequestError("nothing to remove; give a collective, --mpi NAME, or --all")
    if is_limited and every:
        given = "a collective" if name is not None else "--mpi"
        raise RequestError(f"--all removes all entries, and {given} some; leave out one of them")
    collective = None if name is None else collectives.check_collective(name)
    target = file or wisdom_files.user_file()
    wisdom_files.check_file(target)
    before = wisdom_files.read(target)
    check_mpi(mpi, before)

    def change(old: list[Entry]) -> list[Entry]:
        gone = selected(old, collective, mpi)
        return [entry for entry in old if entry not in gone]

    left = wisdom_files.update(target, change)
    removed = f"removed {len(before) - len(left)} of {count(len(before))} from {target}"
    console.say(removed + unread(target, file))


@group.command("check", help=CHECK_HELP)
def check(source: Annotated[Path, typer.Argument(metavar="FILE")], mpi: Mpi = None) -> None:
    wisdom_files.check_file(source)
    entries = wisdom_files.read(source)
    check_mpi(mpi, entries)
    here = _core.place("")
    alike = [each for each in entries if each["cpu"] == here["cpu"] and each["cores"] == here["cores"]]
    counting = [each for each in alike if mpi in (None, each["mpi"])]
    processor = f"{here['cpu']}, {here['cores']} cores"
    console.say(f"{source}: {count(len(entries))}, {len(alike)} for this processor ({processor})")
    for name in sorted({each["mpi"] for each in counting}):
        console.say(f"  {sum(each['mpi'] == name for each in counting)} for {name}")
    if source.stat().st_mode & 0o022:
        raise RequestError(
            f"{source} is writable by other users, so the library ignores it; run chmod go-w {source}"
        )


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="wisdom")
