# SPDX-License-Identifier: BSD-3-Clause
"""Runs of benchmarks/mpi/call_times.cpp, a program of plain MPI calls."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from convene.mpi import settings

from benchmarks import common

SAME_STATE = 1.25  # the time of a cache line, in runs that are compared


def observe(
    launcher: str,
    stack: str,
    library: Path | None,
    *,
    procs: int,
    seconds: float,
    cells: list[str],
    variables: dict[str, str],
    refused: str | None = None,
) -> dict[str, Any]:
    """Nanoseconds per call by cell, and of a cache line; `seconds`: of a cell. Raises RuntimeError, also if
    the program prints the `refused` text to stderr."""
    program = common.built(f"benchmarks/{stack}/call_times")
    found = settings.find_setting(launcher, stack)
    setting = settings.Setting(found.launcher, found.options, stack, program, preload=library)
    variables = {**settings.mpi_variables(setting.launcher, procs), **variables}
    command = settings.command_line(setting, procs, [str(seconds), *cells], variables)
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=120
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"line"')]
    if refused and refused in done.stderr:
        raise RuntimeError(next(line for line in done.stderr.splitlines() if refused in line))
    if done.returncode or not lines:
        raise RuntimeError(f"{stack}, {library}, {variables}: {done.stderr or done.stdout}")
    observation: dict[str, Any] = json.loads(lines[0])
    return observation
