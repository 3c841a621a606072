# SPDX-License-Identifier: BSD-3-Clause
"""convene measure: the parameters of models, on this machine and its MPI."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.catalogue import selection
from convene.cli import options
from convene.cli.commands.bench import check_output
from convene.model import fit_plots, measured_series, measurement
from convene.mpi import processes, settings

HELP = """Measures this machine's parameters for convene predict: Hockney, LogGP, LogfP, PLogP, log_nP, τ-Lop.

Messages alone, in bursts and side by side, sends and delayed receives, copies and reductions, on the MPI as \
it runs; sizes stand closer where times bend. Every parameter has a 95 % interval (bootstrap over rounds).

Take as many ranks as there are cores: beyond them, the crowd is measured and not the machine.

[bold]Examples[/bold]

  convene measure -n 2 -o here.json

  convene measure -n 8 --launcher 'mpirun --hostfile hosts' -o cluster.json --plots fits

  convene measure -n 2 --quick --json
"""

MOST_PROCS = 1 << 12
OUT_OF_CACHE = 1 << 27


def measure(setting: settings.Setting, request: measurement.Request) -> dict[str, Any]:
    """Measures, with a bar on a terminal."""
    output = console.make(error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        task = progress.add_task("looking for sizes", total=request.effort.rounds)

        def show(done: float, total: float) -> None:
            progress.update(task, completed=done, total=total, description="measuring")

        return measurement.run(setting, request, show)


def interval_text(interval: dict[str, Any]) -> str:
    return f"{interval['low']:.4g} … {interval['high']:.4g}"


def rows(platform: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Channel, model, parameter, value, interval: of the parameters that are one number."""
    intervals = platform["measured"]["intervals"]
    found = []
    for channel in platform["model"]["channels"]:
        for model in ("hockney", "loggp", "logfp", "plogp", "taulop"):
            for name, value in channel[model].items():
                path = f"channels.{channel['name']}.{model}.{name}"
                if isinstance(value, int | float) and path in intervals:
                    found.append(
                        (channel["name"], model, name, f"{value:.4g}", interval_text(intervals[path]))
                    )
    return found


def make_table(platform: dict[str, Any]) -> Table:
    table = console.table(
        f"{platform['name']}: {platform['description']}",
        *("channel", "model", "parameter", "value", "95 % interval"),
        numbers=("value",),
    )
    last = ""
    for channel, model, *others in rows(platform):
        table.add_row(
            channel if last != channel + model else "", model if last != channel + model else "", *others
        )
        last = channel + model
    return table


def print_platform(platform: dict[str, Any]) -> None:
    output = console.make()
    output.print(make_table(platform))
    output.print("Times in µs (per byte: G, beta); f counts messages, S bytes.", style="dim")
    for channel, found in platform["measured"]["protocols"].items():
        if found["sender_waits_from"] is not None:
            output.print(
                f"{channel}: a sender waits for its receiver from {found['sender_waits_from']} bytes on"
            )
        for kink in found["kinks"]:
            low, high = (_core.format_size(size) for size in kink["between"])
            before, after = kink["times"]
            what = f"{channel}: between {low} and {high} bytes a {kink['operation']}"
            output.print(f"{what} jumps from {before:.3g} to {after:.3g} µs")


def remarks(raw: dict[str, Any], request: measurement.Request) -> list[str]:
    found = []
    cores = int(raw["environment"]["cores"]) * len(raw["environment"]["hosts"])
    if int(raw["procs"]) > cores:
        found.append(f"{raw['procs']} ranks shared {cores} cores: the parameters are those of such a crowd")
    if request.fits_collectives and len(set(raw["nodes"])) > 1:
        found.append("--fit-to changed nothing: parameters are fitted to collectives within one node only")
    return found


def make_plots_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise RequestError(f"there is no directory {folder} for --plots: {error.strerror}") from None


def run(
    procs: Annotated[int, typer.Option("-n", "--procs", metavar="N", help="How many ranks, at least 2.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PLATFORM.json", help="Write the platform file.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The platform's name; default: the file's.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="In seconds, up to 1 MiB, with wider intervals.")
    ] = False,
    rounds: Annotated[int | None, typer.Option(min=5, help="Observations of each point.")] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Stop after this time, but not before 10 rounds; 0: never.")
    ] = None,
    largest: Annotated[str | None, typer.Option(metavar="SIZE", help="The largest message.")] = None,
    out_of_cache: Annotated[
        bool,
        typer.Option("--out-of-cache", help="Use memory that is in no cache, not the same buffers again."),
    ] = False,
    fit_to: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Fit τ-Lop's L to these as well, by least squares: bcast=binomial,allgather=ring.",
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write pictures of the fits into this directory.")
    ] = None,
    raw_output: Annotated[
        Path | None, typer.Option("--raw", metavar="FILE.json", help="Write every observation.")
    ] = None,
    launcher: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="The MPI's launcher, with options if need be; default: mpirun."),
    ] = None,
    stack: Annotated[
        str | None, options.stack_option("Whose MPI, where the launcher serves several or none is given.")
    ] = None,
    json: options.Json = False,
) -> None:
    if not 2 <= procs <= MOST_PROCS:
        raise RequestError(f"-n must be from 2 to {MOST_PROCS}, not {procs}: a message has two ends")
    for path in (path for path in (output, raw_output) if path):
        check_output(path)
    if plots:
        make_plots_folder(plots)
    effort = measurement.QUICK if quick else measurement.Effort()
    if rounds is not None:
        effort = replace(effort, rounds=rounds)
    if seconds is not None:
        effort = replace(effort, seconds=seconds)
    if largest is not None:
        effort = replace(effort, largest=check_largest(largest))
    request = measurement.Request(procs, effort, OUT_OF_CACHE if out_of_cache else 0)
    if fit_to is not None:
        request = with_collectives(request, fit_to)
    try:
        raw = measure(measurement.find_setting(launcher, stack), request)
        if raw_output:
            console.write_file(raw_output, console.json_text(raw) + "\n")
        title = name or (output.stem if output else raw["environment"]["hosts"][0])
        platform = measurement.platform(raw, request, title)
    except processes.RunError as error:
        console.complain(str(error))
        raise typer.Exit(1) from None
    if output:
        console.write_file(output, console.json_text(platform) + "\n")
    if plots:
        fit_plots.draw(measured_series.Observations.read(raw), platform, plots)
    if json:
        console.print_json(platform)
    else:
        print_platform(platform)
    for sentence in remarks(raw, request):
        console.complain(sentence)


# Collectives that the measuring program can call.
MEASURED = ("allgather", "alltoall", "bcast", "gather", "scatter")


def with_collectives(request: measurement.Request, text: str) -> measurement.Request:
    """The request with these algorithms on all its ranks, at some sizes up to half of the largest message."""
    uses = parsing.split_names(text)
    for use in uses:
        collective, equals, algorithm = use.partition("=")
        if not equals or collective not in MEASURED:
            raise RequestError(
                f"--fit-to '{use}' is no use of {', '.join(MEASURED)}; write it as in bcast=binomial"
            )
        selection.check_contender(collective, request.procs, algorithm)
        if _core.shares_memory(collective, algorithm):
            raise RequestError(
                f"--fit-to '{use}': it sends no messages, whose transfers are fitted; name another algorithm"
            )
        if algorithm == selection.NATIVE:
            raise RequestError(
                f"--fit-to '{use}': what the MPI does by itself has no model; name an algorithm"
            )
    sizes = [1 << i for i in range(6, 31, 3) if 1 << i <= request.effort.largest // 2]
    if not sizes:
        raise RequestError(
            "--fit-to needs sizes up to half of --largest, from 64 bytes on; take --largest 128"
        )
    return replace(
        request,
        collectives=tuple(uses),
        collective_procs=(request.procs,),
        collective_sizes=tuple(sizes),
        fits_collectives=True,
    )


def check_largest(text: str) -> int:
    size = _core.size(text)
    if not 64 <= size <= 1 << 30:
        raise RequestError(f"--largest must be from 64 bytes to 1 GiB, not {text}")
    return size


def register(app: typer.Typer) -> None:
    app.command("measure", help=HELP)(run)
