# SPDX-License-Identifier: BSD-3-Clause
"""A measured study of a kernel: SUMMA under real MPI beside its prediction and its simulation."""

import os

import typer

from convene._core import RequestError
from convene.base import console
from convene.cli import platform_output
from convene.cli.measurements import Files
from convene.cli.options import Launch, refuse
from convene.model import measurement, platform_files
from convene.model.platform_files import PlatformFile
from convene.mpi import settings
from convene.mpi.processes import RunError
from convene.studies.summa import measured

# Options of other studies.
IDLE = (
    "procs",
    "seconds",
    "precision",
    "batch",
    "order",
    "seed",
    "sync",
    "window",
    "cache",
    "check",
    "resume",
)
REPETITIONS = 10
MOST_RANKS = 4  # of a measured platform


def run(
    context: typer.Context,
    launch: Launch,
    written: Files,
    repetitions: int | None,
    platform: str | None,
    *,
    full: bool,
    json: bool,
) -> None:
    refuse(context, IDLE, f"the study {measured.NAME}")
    setting = settings.find_setting(launch.launcher, launch.stack, measured.NAME)
    try:
        file = platform_files.load(platform) if platform else measure_platform(launch)
        request = measured.Request(
            setting, file, measured.FULL_BLOCK if full else measured.BLOCK, repetitions or REPETITIONS
        )
        result = measured.run(request, lambda: None)
    except RunError as error:
        console.complain(str(error))
        raise typer.Exit(1) from None
    if written.output:
        console.write_file(written.output, console.json_text(result) + "\n")
    if json:
        console.print_json(result)
    else:
        console.make().print(measured.table(result))
        for sentence in measured.sentences(result):
            console.say(sentence)
    if any(each["wrong"] for each in result["rows"]):
        raise typer.Exit(1)


def measure_platform(launch: Launch) -> PlatformFile:
    """Measures this machine for some seconds, with at most a rank for each core."""
    procs = min(os.cpu_count() or 1, MOST_RANKS)
    if procs < 2:
        raise RequestError(
            "this machine has one core, so nothing is measured here; give --platform with a file of convene "
            "measure"
        )
    request = measurement.Request(procs, measurement.QUICK)
    raw = platform_output.measure(measurement.find_setting(launch.launcher, launch.stack), request)
    found = measurement.platform(raw, request, raw["environment"]["hosts"][0])
    return PlatformFile(console.json_text(found), "the measured platform")
