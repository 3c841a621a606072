# SPDX-License-Identifier: BSD-3-Clause
"""convene tune: measures which algorithms are faster than native, and writes them to a wisdom file."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from convene import __version__
from convene._core import RequestError
from convene.base import console, parsing
from convene.base.text import bytes_text
from convene.catalogue import collectives
from convene.cli import completion
from convene.cli.groups import grouped
from convene.cli.options import Json, Launch, check_output
from convene.mpi import settings
from convene.mpi.processes import RunError
from convene.mpi.settings import Setting
from convene.tune import candidates, kept, stages, wisdom_files
from convene.tune.kept import Kept
from convene.tune.stages import Case, Tuned

HELP = """Measures which algorithms are faster than the native ones on this machine, and writes a wisdom file.

For each collective, all algorithms are screened against the native one. The best are measured by several \
methods: back-to-back calls with a fixed root, with a rotating root, and single calls between barriers. A \
choice must win by each method: the upper end of its ratio to native is at most 0.97 in one half of the \
repetitions and below 1 in the other, and it also wins at a neighbouring size. All other cases stay native.

The result is merged into the user's wisdom file. [bold]convene run[/bold] uses it on the same MPI, \
processor, number of ranks and number of nodes.

[bold]Examples[/bold]

  convene tune -n 4

  convene tune allgather bcast -n 8 --sizes 8:1MiB:8 --budget 5min

  convene tune -n 4 --launcher 'mpirun --hostfile hosts' -o site.json
"""

HINT = "; run the same command with --resume to measure the others"
USUAL = ("allgather", "allreduce", "alltoall", "barrier", "bcast", "reduce")


@dataclass(frozen=True)
class Extent:
    """Extent: sizes and time."""

    sizes: Annotated[
        str,
        typer.Option(
            metavar="LIST", help="Bytes per block (bcast, reductions: of the vector), as for convene bench."
        ),
    ] = "8:1MiB:8"
    repetitions: Annotated[
        int, typer.Option(min=16, help="Maximum number of observations of each algorithm at each size.")
    ] = 60
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Start no further collective after this time, such as 10min or 90s."
        ),
    ] = "10min"
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random order of algorithms.")] = 1


@dataclass(frozen=True)
class Written:
    """Files: output."""

    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.json",
            help="Merge into this wisdom file. Default: the user's, ~/.local/share/convene/wisdom.json.",
        ),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Measure and print, but do not write the wisdom file.")
    ] = False

    resume: Annotated[
        bool, typer.Option("--resume", help="Complete an interrupted tuning with the same settings.")
    ] = False

    def check(self) -> None:
        if self.resume and self.dry_run:
            raise RequestError("--resume and --dry-run exclude each other; give one of them")
        check_output("-o", self.output, "")

    @property
    def path(self) -> Path:
        return self.output or wisdom_files.user_file()


def cases(named: list[str], procs: int, extent: Extent) -> list[Case]:
    """Of one node, until the launcher has shown on how many it starts the ranks."""
    names = [collectives.check_collective(name) for name in named] or list(USUAL)
    sizes = tuple(parsing.parse_sizes(extent.sizes))
    return [
        Case(
            name,
            procs,
            1,
            (0,) if name in collectives.WITHOUT_SIZES else fitting(name, sizes),
            extent.repetitions,
            seed=extent.seed,
        )
        for name in dict.fromkeys(names)
    ]


def fitting(collective: str, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that fit the items of a collective: reductions are measured on doubles."""
    item = 8 if collective in collectives.REDUCTIONS else 1
    found = tuple(size for size in sizes if size % item == 0 and size > 0)
    if not found:
        raise RequestError(f"--sizes has no size for {collective}; give multiples of {item} bytes above 0")
    return found


@grouped
def tune(
    procs: Annotated[int, typer.Option("-n", "--procs", min=2, max=1 << 16, help="Number of ranks.")],
    extent: Extent,
    written: Written,
    launch: Launch,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COLLECTIVE]...",
            help=f"Collectives to measure. Default: {', '.join(USUAL)}.",
            autocompletion=completion.complete_collective,
        ),
    ] = None,
    json: Json = False,
) -> None:
    written.check()
    setting = settings.find_setting(launch.launcher, launch.stack)
    wanted = cases(names or [], procs, extent)
    wisdom_files.read(written.path)  # a damaged file is reported before the work
    budget = parsing.parse_budget(extent.budget)
    done = measure_and_keep(setting, wanted, budget, written)
    entries = [entry for each in done for entry in each.entries()]
    if json:
        console.print_json({"entries": entries, "cells": [cell for each in done for cell in cells(each)]})
        return
    show(done)
    left = [case.collective for case in wanted[len(done) :]]
    if left:
        console.complain(f"the budget of {extent.budget} is exhausted; not measured: {', '.join(left)}{HINT}")
    if not written.dry_run:
        print()
        console.say(f"wrote {len(entries)} choices to {written.path}")


def measure_and_keep(setting: Setting, wanted: list[Case], budget: float, written: Written) -> list[Tuned]:
    """Measures all cases. What is measured is kept until they are complete."""
    if written.dry_run:
        with kept.temporary() as place:
            return measure(setting, wanted, budget, written, place)
    asked = {
        "convene": __version__,
        "launcher": str(setting.launcher.path),
        "collectives": [case.collective for case in wanted],
        **{name: getattr(wanted[0], name) for name in ("procs", "repetitions", "seed")},
        "sizes": sorted({size for case in wanted for size in case.sizes}),
    }
    place = kept.kept_at(kept.folder_of(written.path), asked, resume=written.resume)
    try:
        done = measure(setting, wanted, budget, written, place)
    except BaseException as error:
        number = place.sizes()
        if number == 0:
            place.remove()
        elif not isinstance(error, RequestError):
            console.complain(f"{number} measurements are kept in {place.folder}{HINT}")
        if isinstance(error, KeyboardInterrupt):
            raise typer.Exit(130) from None
        raise
    if len(done) == len(wanted):
        place.remove()
    return done


def measure(
    setting: Setting, wanted: list[Case], budget: float, written: Written, place: Kept
) -> list[Tuned]:
    """Measures all cases with a progress bar, and writes each result at once."""
    output = console.make(error=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    done: list[Tuned] = []
    start = time.monotonic()
    with Progress(
        *columns, TimeRemainingColumn(), console=output, transient=True, disable=not output.is_terminal
    ) as progress:
        task = progress.add_task("tuning", total=len(wanted))
        nodes = 0
        for at, case in enumerate(wanted):
            if at > 0 and time.monotonic() - start > budget:
                break
            progress.update(task, description=f"tuning {case.collective}")

            def advance(part: float, at: int = at) -> None:
                progress.update(task, completed=at + part)

            try:
                nodes = nodes or stages.nodes_of(setting, case, place)
                found = candidates.candidates(case.collective, case.procs, nodes)
                tuned = stages.tune(setting, replace(case, nodes=nodes), found, advance, place)
            except RunError as error:
                console.complain(f"{case.collective}: {error}")
                raise typer.Exit(1) from None
            done.append(tuned)
            if not written.dry_run:
                keep(written.path, tuned)
    return done


def keep(path: Path, tuned: Tuned) -> None:
    """Replaces the entries of this case at the measured sizes."""
    case = stages.layout_of(tuned.case, tuned.run)
    wisdom_files.update(
        path,
        lambda old: wisdom_files.merged(
            wisdom_files.without_case(old, case, list(tuned.case.sizes)), tuned.entries()
        ),
    )


def cells(tuned: Tuned) -> list[dict[str, object]]:
    """One row for each measured size."""
    chosen = {choice.size: choice.verdict for choice in tuned.choices}
    rows = []
    for size, found in tuned.found.items():
        best = chosen.get(size) or (found[0] if found else None)
        rows.append(
            {
                "collective": tuned.case.collective,
                "procs": tuned.case.procs,
                "bytes": size,
                "choice": chosen[size].spec if size in chosen else "native",
                "best": best.spec if best else None,
                "ratio": best.ratio if best else None,
                "upper": best.upper if best else None,
                "methods": {name: each.as_json() for name, each in best.ratios.items()} if best else {},
            }
        )
    return rows


def show(done: list[Tuned]) -> None:
    table = console.table(
        "Choices (ratio: time over that of native, the worst of all methods; below 1 is faster)",
        *("collective", "bytes", "choice", "ratio", "upper end", "best measured"),
        numbers=("bytes", "ratio", "upper end"),
        optional=("upper end",),
        keys=2,
    )
    for tuned in done:
        for row in cells(tuned):
            ratio, upper, size = row["ratio"], row["upper"], row["bytes"]
            table.add_row(
                str(row["collective"]),
                bytes_text(size) if isinstance(size, int) and size else "-",
                str(row["choice"]),
                f"{ratio:.2f}" if isinstance(ratio, float) else "-",
                f"{upper:.2f}" if isinstance(upper, float) else "-",
                str(row["best"] or "-") if row["choice"] == "native" else "",
            )
    console.make().print(table)


def register(app: typer.Typer) -> None:
    app.command("tune", help=HELP)(tune)
