# SPDX-License-Identifier: BSD-3-Clause
"""convene selftest: an acceptance test of this installation, on one page."""

import shlex
import time
from pathlib import Path
from typing import Annotated

import typer

from convene import __version__
from convene._core import RequestError
from convene.base import console, parsing
from convene.base.text import duration_text
from convene.cli.commands import info
from convene.cli.commands.info import Facts
from convene.cli.groups import grouped
from convene.cli.options import Json, Launch, check_output
from convene.mpi import launchers, settings
from convene.selftest import kit, parts
from convene.selftest.kit import Launched, Result, Verdict

HELP = """Tests this installation on the ranks of a launcher, and prints one page to paste into an issue.

The parts: the schedules of all algorithms are simulated; every algorithm that fits runs on the launched \
ranks, and its results are checked; a choice is made slow, and the guard must return to native; two \
collectives are tuned without keeping the result; two studies run at two sizes. The page ends with that of \
[bold]convene info[/bold].

Exit status 1 means that a part failed. Tuning and studies measure and do not judge this machine.

[bold]Examples[/bold]

  convene selftest -n 4

  convene selftest --quick -- mpirun -n 16 --hostfile hosts

  convene selftest -n 64 --launcher 'srun --mpi=pmix' --stack openmpi
"""

RANKS = ("-n", "-np", "--np", "-c", "--ntasks")
USUAL = "10min"
QUICK_BUDGET = "2min"


def launch_of(command: list[str], procs: int | None, launch: Launch) -> tuple[str | None, int]:
    """The launcher with its options, and the number of ranks: of the options, or of the words after --."""
    if not command:
        if procs is None:
            raise RequestError(
                "the number of ranks is missing; give -n 4, or a launcher as in -- mpirun -n 4"
            )
        return launch.launcher, procs
    if launch.launcher is not None:
        raise RequestError("give the launcher with --launcher or after --, not both")
    words = list(command)
    at = next((at for at, word in enumerate(words) if word in RANKS), None)
    if at is not None:
        number = words[at + 1] if at + 1 < len(words) else ""
        if not number.isdecimal() or int(number) < 2:
            raise RequestError(f"{words[at]} '{number}' is no number of ranks; give 2 or more")
        del words[at : at + 2]
        if procs is not None and procs != int(number):
            raise RequestError(f"-n {procs} and {command[at]} {number} differ; give one")
        procs = int(number)
    if procs is None:
        if not launchers.is_launcher(words[0]):
            raise RequestError(f"'{words[0]}' is no launcher; give one after --, as in -- mpirun -n 4")
        raise RequestError(f"the number of ranks is missing; give -n after {words[0]}")
    return shlex.join(words), procs


def show(facts: Facts, launched: Launched, results: list[Result], seconds: float) -> None:
    output = console.make()
    setting = launched.setting
    output.print(f"Convene {__version__} selftest: {kit.summary(results, seconds)}")
    command = shlex.join([str(setting.launcher.path), *setting.options, "-n", str(launched.procs)])
    output.print(f"{setting.launcher.family}, library for {setting.stack}: {command}\n", markup=False)
    table = console.table("Parts", "part", "verdict", "time", "", numbers=["time"])
    for each in results:
        sentences = each.sentences or [""]
        for at, sentence in enumerate(sentences):
            first = (
                (each.name, each.found.verdict.value, duration_text(each.seconds)) if at == 0 else ("",) * 3
            )
            table.add_row(*first, sentence)
    output.print(table, markup=False)
    output.print()
    info.page(output, facts)


@grouped
def selftest(
    launch: Launch,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- LAUNCHER", help="Launcher with its options, as in -- mpirun -n 4."),
    ] = None,
    procs: Annotated[
        int | None, typer.Option("-n", "--procs", min=2, max=1 << 16, help="Number of ranks.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out tuning and studies, and use fewer sizes.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Start no further part after this time. Default: 10min; with --quick, 2min."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.json", help="Also write the results as JSON."),
    ] = None,
    json: Json = False,
) -> None:
    check_output("-o", output, ".json")
    seconds = parsing.parse_budget(budget or (QUICK_BUDGET if quick else USUAL))
    launcher, number = launch_of(command or [], procs, launch)
    setting = settings.find_setting(launcher, launch.stack)
    start = time.monotonic()
    launched = Launched(setting, number, quick, start + seconds)
    facts = info.collect(None)

    def announce(at: int, total: int, name: str) -> None:
        console.complain(f"part {at} of {total}: {name}")

    results = list(kit.run_parts(parts.PARTS, launched, announce))
    elapsed = time.monotonic() - start
    page = {
        "convene": __version__,
        "launcher": [str(setting.launcher.path), *setting.options],
        "mpi": setting.launcher.family,
        "stack": setting.stack,
        "procs": number,
        "seconds": round(elapsed, 3),
        "summary": kit.summary(results, elapsed),
        "parts": [each.as_json() for each in results],
        "info": facts.as_json(),
    }
    if output:
        console.write_file(output, console.json_text(page) + "\n")
    if json:
        console.print_json(page)
    else:
        show(facts, launched, results, elapsed)
    if any(each.found.verdict is Verdict.FAILED for each in results):
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    app.command("selftest", help=HELP)(selftest)
