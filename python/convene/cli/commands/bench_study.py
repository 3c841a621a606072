# SPDX-License-Identifier: BSD-3-Clause
"""convene bench study: an experiment of a publication, measured on this machine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from convene.base import console
from convene.base.result_types import MeasuredRun, Measurement
from convene.bench import files, metrics, sessions, terminal
from convene.bench.metrics import Metric
from convene.bench.requests import Request
from convene.bench.sessions import Finished
from convene.cli import kernel_study, measurements, options, study_names
from convene.cli.groups import grouped
from convene.cli.measurements import Conditions, Files, Sampling, choose_type
from convene.cli.options import Json, Launch
from convene.mpi import settings
from convene.mpi.settings import Setting
from convene.studies import registry
from convene.studies.measured import Part, Study

HELP = """Repeats an experiment of a publication on this machine, and compares with the published results.

The default is a few ranks and sizes; --full uses those of the publication. With -o, each collective of the \
study writes a file and a report page.

[bold]Examples[/bold]

  convene bench study sparbit -o sparbit.json

  convene bench study mini-benchmark -n 4 --repetitions 20 -o mini.json

  convene bench study scatter-gather --full -o full.json --resume

  convene bench study summa --platform here.json          (a file of convene measure)
"""


KNOWN: dict[str, registry.Named] = {**registry.MEASURED, **registry.KERNELS}


@grouped
def study(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"Study: {', '.join(KNOWN)}.",
            autocompletion=study_names.complete(KNOWN),
        ),
    ],
    sampling: Sampling,
    conditions: Conditions,
    launch: Launch,
    written: Files,
    procs: Annotated[
        str | None,
        typer.Option("-n", "--procs", metavar="LIST", help="Numbers of ranks, as in 8 or 2,4,8."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Use all sizes and numbers of ranks of the publication.")
    ] = False,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="summa: model parameters of this machine. Default: measure them first (15 s).",
        ),
    ] = None,
    json: Json = False,
) -> None:
    written.check()
    if study_names.find(KNOWN, name).name in registry.KERNELS:
        repetitions = options.given(context, "repetitions")
        kernel_study.run(context, launch, written, repetitions, platform, full=full, json=json)
        return
    options.refuse(context, ["platform"], f"the study {name}")
    chosen = study_names.find(registry.MEASURED, name)
    template = measurements.make_template(sampling, conditions)
    setting = settings.find_setting(launch.launcher, launch.stack)
    numbers = measurements.check_procs(procs) if procs else None
    parts = chosen.parts(full=full)
    results = {}
    for part in parts:
        path = part_path(written.output, chosen, part.collective)
        is_begun = path is not None and files.journal_of(path).exists()
        if written.resume and path and path.is_file() and not is_begun:
            results[part.collective] = files.read(path)
            continue
        resume = written.resume and (is_begun or len(parts) == 1)
        result, rows = measure_part(part, template, numbers, setting, path, resume=resume)
        results[part.collective] = result
        if not json:
            terminal.show(result, rows, [])
    show(chosen, results, written.output, json=json)


def measure_part(
    part: Part,
    template: Request,
    numbers: list[int] | None,
    setting: Setting,
    path: Path | None,
    *,
    resume: bool,
) -> Finished:
    own = replace(template, type=choose_type(part.collective, part.type or None))
    requests = [request for number in numbers or part.procs for request in part.requests(number, own)]
    finish = finish_of(part.collective, metrics.find_metric(part.metric))
    return measurements.measure(setting, requests, path, finish, resume=resume)


def finish_of(collective: str, metric: Metric) -> Callable[[list[MeasuredRun]], Finished]:
    return lambda runs: sessions.finish(collective, [], runs, metric)


def show(chosen: Study[Any], results: dict[str, Measurement], output: Path | None, *, json: bool) -> None:
    """Prints the results beside the published ones, and writes a report page for each file."""
    judged = chosen.judge(results)
    if json:
        console.print_json({"study": judged})
    else:
        console.make().print(chosen.table(judged))
        for sentence in judged["sentences"]:
            console.say(sentence)
    for collective, result in results.items():
        path = part_path(output, chosen, collective)
        if path:
            result["study"] = judged
            files.write(path, result)
            write_page(path, quiet=json)


def part_path(output: Path | None, chosen: Study[Any], collective: str) -> Path | None:
    """A study of several collectives writes a file for each."""
    if output is None or len(chosen.parts(full=False)) == 1:
        return output
    return output.with_stem(f"{output.stem}-{collective}")


def write_page(path: Path, *, quiet: bool) -> None:
    from convene.bench.report import pages  # imports Matplotlib
    from convene.bench.report.measured import Measured

    page = path.with_suffix(".html")
    result = files.read(path)
    measured = Measured(path.stem, result, metrics.find_metric(result["metric"]))
    console.write_file(page, pages.page(pages.make_parts([measured], with_pdf=False)))
    if not quiet:
        console.say(f"report: {page}")


def register(group: typer.Typer) -> None:
    group.command("study", help=HELP)(study)
