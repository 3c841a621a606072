# SPDX-License-Identifier: BSD-3-Clause
"""Processes of MPI programs: start them, follow their progress, explain their failures."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from convene._core import RequestError
from convene.mpi import settings
from convene.mpi.settings import Setting

# Prefixes of messages of the program and of the library in it.
VOICES = ("convene-bench: ", "convene-measure: ", "convene-summa: ", "convene: ")
PROGRESS, RESULT = "progress ", "result "  # lines of rank 0


class RunError(Exception):
    """The measurement ran and failed."""


@dataclass(frozen=True)
class Started:
    """How a program was started: its command line, and the variables that were set for it."""

    command: list[str]
    variables: dict[str, str]


def start(
    setting: Setting,
    procs: int,
    arguments: list[str],
    output: Path,
    on_progress: Callable[[float, float], None] | None = None,
    data: Sequence[str] = (),
) -> Started:
    """Runs the setting's program to its end. Rank 0 writes into `output`, or prints its result if its node
    does not have that file. `data` are further arguments, too long to be part of the result."""
    variables = {
        **settings.mpi_variables(setting.launcher, procs, as_it_is=setting.as_it_is),
        **setting.variables,
    }
    library_path = {name: variables[name] for name in variables if name == "LD_LIBRARY_PATH"}
    command = settings.command_line(
        setting,
        procs,
        [*arguments, "--output", str(output), "--return", *data],
        {**library_path, **setting.variables},
    )
    output.touch()
    run(command, {**os.environ, **variables}, on_progress or (lambda done, of: None), output)
    return Started(command[: command.index("--output")], variables)


def run(
    command: list[str],
    environment: dict[str, str],
    on_progress: Callable[[float, float], None],
    output: Path | None = None,
) -> None:
    """Runs a command to its end. Raises RequestError or RunError with its error message. Printed results go
    to the output."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                errors="replace",
                preexec_fn=end_with_parent,
            )
        except OSError as error:
            raise RequestError(f"cannot start {command[0]}: {error.strerror}") from None
        with process:
            follow(process, on_progress, output)
        if process.returncode != 0:
            said.seek(0)
            explain(process.returncode, said.read())


def end_with_parent() -> None:
    """In the child: end with the driver."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def follow(
    process: "subprocess.Popen[str]", on_progress: Callable[[float, float], None], output: Path | None
) -> None:
    """Reports the progress of a process, and keeps its printed results, until it ends."""
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith(PROGRESS):
                done, total = line.removeprefix(PROGRESS).split()
                on_progress(float(done), float(total))
            elif output and line.startswith(RESULT):
                with output.open("a", encoding="utf-8") as file:
                    file.write(json.loads(line.removeprefix(RESULT)))
    except BaseException:
        process.terminate()
        raise


def explain(status: int, said: str) -> None:
    """Raises the error message of a failed run. Launchers print much besides."""
    for line in said.splitlines():
        for voice in VOICES:
            if voice in line:
                sentence = line.partition(voice)[2]
                raise RequestError(sentence) if status == 2 else RunError(sentence)
    lines = [line.strip() for line in said.splitlines() if line.strip(" -")]
    why = " ".join(lines)[:600] if lines else "no message"
    raise RunError(f"the MPI program ended with status {status}: {why}")
