# SPDX-License-Identifier: BSD-3-Clause
"""convene measure: fits model parameters for this machine and its MPI."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.catalogue import selection
from convene.cli import platform_output
from convene.cli.groups import grouped
from convene.cli.options import Json, Launch, check_output, refuse_empty
from convene.model import fit_plots, measured_series, measurement
from convene.model.platform_types import MeasuredPlatform, Observed
from convene.mpi.processes import RunError

HELP = """Fits model parameters for this machine: Hockney, LogGP, LogfP, PLogP, log_nP, τ-Lop.

It measures single, consecutive and concurrent messages, delayed receives, copies and reductions. Sizes are \
denser where the slope of the time changes. Every parameter has a 95 % interval (bootstrap over rounds).

Use at most as many ranks as there are cores; otherwise the parameters are those of an oversubscribed machine.

[bold]Examples[/bold]

  convene measure -n 2 -o here.json

  convene measure -n 8 --launcher 'mpirun --hostfile hosts' -o cluster.json --plots fits

  convene measure -n 2 --quick --json
"""

MOST_PROCS = 1 << 12
OUT_OF_CACHE = 1 << 27

# Collectives that the measuring program supports.
MEASURED = ("allgather", "alltoall", "bcast", "gather", "scatter")


@dataclass(frozen=True)
class Files:
    """Files: output."""

    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PLATFORM.json", help="Write the platform file.")
    ] = None
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write plots of the fits into this directory.")
    ] = None
    raw_output: Annotated[
        Path | None, typer.Option("--raw", metavar="FILE.json", help="Write all observations to this file.")
    ] = None
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name of the platform. Default: the name of the -o file without .json; without -o, that of "
            "the first host.",
        ),
    ] = None

    def check(self) -> None:
        check_output("-o", self.output, ".json")
        check_output("--raw", self.raw_output, ".json")
        refuse_empty("--name", self.name, "cluster")
        if self.plots:
            try:
                self.plots.mkdir(exist_ok=True)
            except OSError as error:
                raise RequestError(
                    f"cannot create the directory --plots {self.plots}: {error.strerror}"
                ) from None

    def name_of(self, raw: Observed) -> str:
        return self.name or (self.output.stem if self.output else raw["environment"]["hosts"][0])

    def write(self, raw: Observed, platform: MeasuredPlatform) -> None:
        if self.output:
            console.write_file(self.output, console.json_text(platform) + "\n")
        if self.plots:
            fit_plots.draw(measured_series.Observations.read(raw), platform, self.plots)


@dataclass(frozen=True)
class Effort:
    """Effort: observations, sizes, time."""

    quick: Annotated[
        bool, typer.Option("--quick", help="Measure for a few seconds, up to 1 MiB, with wider intervals.")
    ] = False
    rounds: Annotated[int | None, typer.Option(min=5, help="Number of observations of each point.")] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0, help="Stop after this time, but not before 10 observations of each point; 0: no limit."
        ),
    ] = None
    largest: Annotated[str | None, typer.Option(metavar="SIZE", help="Largest message.")] = None
    out_of_cache: Annotated[
        bool,
        typer.Option("--out-of-cache", help="Use buffers that are in no cache."),
    ] = False
    fit_to: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Fit τ-Lop's L also to these algorithms, by least squares: bcast=binomial,allgather=ring.",
        ),
    ] = None

    def request(self, procs: int) -> measurement.Request:
        effort = measurement.QUICK if self.quick else measurement.Effort()
        if self.rounds is not None:
            effort = replace(effort, rounds=self.rounds)
        if self.seconds is not None:
            effort = replace(effort, seconds=self.seconds)
        if self.largest is not None:
            effort = replace(effort, largest=check_largest(self.largest))
        request = measurement.Request(procs, effort, OUT_OF_CACHE if self.out_of_cache else 0)
        return request if self.fit_to is None else with_collectives(request, self.fit_to)


@grouped
def run(
    procs: Annotated[int, typer.Option("-n", "--procs", metavar="N", help="Number of ranks, at least 2.")],
    effort: Effort,
    files: Files,
    launch: Launch,
    json: Json = False,
) -> None:
    if not 2 <= procs <= MOST_PROCS:
        raise RequestError(f"-n {procs} is out of range; give 2 to {MOST_PROCS} ranks")
    files.check()
    request = effort.request(procs)
    try:
        raw = platform_output.measure(measurement.find_setting(launch.launcher, launch.stack), request)
        if files.raw_output:
            console.write_file(files.raw_output, console.json_text(raw) + "\n")
        platform = measurement.platform(raw, request, files.name_of(raw))
    except RunError as error:
        console.complain(str(error))
        raise typer.Exit(1) from None
    files.write(raw, platform)
    if json:
        console.print_json(platform)
    else:
        platform_output.print_platform(platform)
    for sentence in platform_output.remarks(raw, request):
        console.complain(sentence)


def with_collectives(request: measurement.Request, text: str) -> measurement.Request:
    """Adds these algorithms to the request, on all ranks, with sizes up to half of the largest message."""
    refuse_empty("--fit-to", text.strip(", "), "bcast=binomial")
    uses = parsing.split_names(text)
    for use in uses:
        collective, equals, algorithm = use.partition("=")
        if not equals or collective not in MEASURED:
            raise RequestError(
                f"invalid --fit-to '{use}'; give COLLECTIVE=ALGORITHM, as in bcast=binomial, with one of "
                f"{', '.join(MEASURED)}"
            )
        selection.check_contender(collective, request.procs, algorithm)
        if _core.shares_memory(collective, algorithm):
            raise RequestError(f"--fit-to '{use}' sends no messages to fit; name another algorithm")
        if algorithm == selection.NATIVE:
            raise RequestError(f"--fit-to '{use}': native algorithms have no model; name another algorithm")
    sizes = [1 << i for i in range(6, 31, 3) if 1 << i <= request.effort.largest // 2]
    if not sizes:
        raise RequestError(
            "--fit-to needs --largest 128 or more: it uses sizes from 64 bytes to half of --largest"
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
        raise RequestError(f"--largest {text} is out of range; give 64 bytes to 1 GiB")
    return size


def register(app: typer.Typer) -> None:
    app.command("measure", help=HELP)(run)
