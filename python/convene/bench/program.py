# SPDX-License-Identifier: BSD-3-Clause
"""Runs the measuring MPI program (tools/bench.cpp) and reads its output."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from convene.base import jsons
from convene.base.result_types import MeasuredRun
from convene.bench.requests import Request
from convene.mpi import launchers, processes
from convene.mpi.processes import RunError
from convene.mpi.settings import Setting


def measure(
    setting: Setting,
    request: Request,
    on_progress: Callable[[float, float], None] | None = None,
    lines: Path | None = None,
) -> MeasuredRun:
    """Runs the program; its result, and how it was started. `lines` is where the program writes what it has,
    size by size; that file stays, whatever becomes of the run."""
    place = launchers.common_place(setting.launcher.path.name)
    with tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as folder:
        output = lines or Path(folder) / "bench.jsonl"
        arguments, traces = request.arguments(), request.traces_as_arguments()
        started = processes.start(setting, request.procs, arguments, output, on_progress, traces)
        result = read_lines(output)
    if result is None:
        raise RunError(
            f"the MPI program did not write {output}, and its launcher has not forwarded the result; start "
            "rank 0 on this machine, or share that directory"
        )
    result["command"], result["variables"] = started.command, started.variables
    return result


def read_lines(path: Path) -> MeasuredRun | None:
    """What the program has written so far; nothing where there is not even a head. A last line that was cut
    off is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    whole = text[: text.rfind("\n") + 1].splitlines()
    if not whole:
        return None
    run = {**jsons.parse(whole[0], f"{path}:1"), "sizes": []}
    run["sizes"] = [jsons.parse(line, f"{path}:{i}") for i, line in enumerate(whole[1:], 2)]
    return jsons.check(run, MeasuredRun, str(path))
