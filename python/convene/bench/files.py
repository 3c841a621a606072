# SPDX-License-Identifier: BSD-3-Clause
"""Files of measurements: written in one step, and checked when they are read."""

import json
from pathlib import Path
from typing import Any, cast

from convene._core import RequestError
from convene.base import console
from convene.base.result_types import Measurement

FORMAT = 2


def write(path: Path, result: Measurement) -> None:
    """All or nothing: a file that was there before is replaced in one step."""
    new = path.with_name(path.name + ".new")
    console.write_file(new, json.dumps(result, ensure_ascii=False, separators=(",", ":")) + "\n")
    new.replace(path)


def read(path: Path) -> Measurement:
    """A measurement, in the newest form whatever form the file has."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read: {getattr(error, 'strerror', 'it is no text')}") from None
    try:
        result = json.loads(text)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        what = "is cut off" if is_cut else "is no JSON"
        raise RequestError(
            f"{path} {what} (line {error.lineno}, column {error.colno}); measure again, with --resume where "
            f"{journal_of(path).name} is still there"
        ) from None
    if not isinstance(result, dict) or "collective" not in result or not ({"runs", "sizes"} & set(result)):
        raise RequestError(f"{path} is no measurement; convene bench … -o FILE.json writes one")
    if not isinstance(result.get("format", 1), int):
        raise RequestError(f"{path} is damaged: its format is no number; measure again")
    if result.get("format", 1) > FORMAT:
        raise RequestError(f"{path} has format {result['format']}, and this version knows up to {FORMAT}")
    result = result if "runs" in result else {**result, "runs": [result]}
    if fault := fault_of(result["runs"]):
        raise RequestError(f"{path} is damaged: {fault}; measure again")
    return cast(Measurement, result)


def fault_of(runs: Any) -> str:
    """What is missing or of the wrong kind; empty where a report can be made."""
    if not isinstance(runs, list) or not runs:
        return "it has no runs"
    for number, run in enumerate(runs, 1):
        if not isinstance(run, dict) or not {"procs", "environment", "options", "sizes"} <= set(run):
            return f"run {number} lacks its ranks, environment, options or sizes"
        if not isinstance(run["environment"], dict) or not {"mpi", "cores", "hosts"} <= set(
            run["environment"]
        ):
            return f"run {number} does not say on what machine and with which MPI"
        if not isinstance(run["sizes"], list) or not run["sizes"]:
            return f"run {number} has no sizes"
        for cell in run["sizes"]:
            if where := fault_of_cell(cell):
                return f"run {number}, {where}"
    return ""


def fault_of_cell(cell: Any) -> str:
    if not isinstance(cell, dict) or not isinstance(cell.get("bytes"), int) or not cell.get("contenders"):
        return "a size without bytes or algorithms"
    lengths = set()
    for contender in cell["contenders"]:
        seconds = contender.get("seconds") if isinstance(contender, dict) else None
        if not isinstance(seconds, list) or not all(isinstance(each, int | float) for each in seconds):
            return f"{cell['bytes']} bytes: an algorithm without a list of seconds"
        lengths.add(len(seconds))
    if 0 in lengths or len(lengths) > 1:
        return f"{cell['bytes']} bytes: algorithms with no or different numbers of observations"
    return ""


def journal_of(path: Path) -> Path:
    return path.with_name(path.name + ".part")
