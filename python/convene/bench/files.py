# SPDX-License-Identifier: BSD-3-Clause
"""Files of measurements: written in one step, and checked when they are read."""

import json
from pathlib import Path
from typing import cast

from convene._core import RequestError
from convene.base import console, jsons
from convene.base.jsons import JsonError
from convene.base.result_types import Cell, MeasuredRun, Measurement

FORMAT = 2
MOST_PROCS = 1 << 24
BY_OBSERVATION = ("arrival", "exit", "wanted")  # and by rank
BY_RANK = ("processor_seconds", "voluntary_switches", "involuntary_switches")


def write(path: Path, result: Measurement) -> None:
    """All or nothing: a file that was there before is replaced in one step."""
    console.write_file(path, json.dumps(result, ensure_ascii=False, separators=(",", ":")) + "\n")


def read(path: Path) -> Measurement:
    """A measurement, in the newest form whatever form the file has."""
    try:
        result = jsons.read(path)
    except JsonError as error:
        resume = f", with --resume where {journal_of(path).name} is still there" if error.is_cut else ""
        raise RequestError(f"{error}; measure again{resume}") from None
    if not isinstance(result, dict) or "collective" not in result or not ({"runs", "sizes"} & set(result)):
        raise RequestError(f"{path} is not a measurement; write one with convene bench … -o FILE.json")
    if not isinstance(result.get("format", 1), int):
        raise RequestError(f"{path} is damaged: field format is not a number; measure again")
    if result.get("format", 1) > FORMAT:
        raise RequestError(
            f"{path} has format {result['format']}; this version of Convene reads formats up to {FORMAT}"
        )
    result = result if "runs" in result else {**result, "runs": [result]}
    if fault := jsons.fault_of(result, Measurement) or fault_of(result["runs"]):
        raise RequestError(f"{path} is damaged: {fault}; measure again")
    return cast(Measurement, result)


def fault_of(runs: list[MeasuredRun]) -> str:
    """What is missing or does not fit together; empty where a report can be made."""
    if not runs:
        return "it has no runs"
    for i, run in enumerate(runs):
        if not 1 <= run["procs"] <= MOST_PROCS:
            return f"runs[{i}].procs must be from 1 to {MOST_PROCS}, not {run['procs']}"
        if not run["sizes"]:
            return f"runs[{i}] has no sizes"
        for k, cell in enumerate(run["sizes"]):
            if fault := fault_of_cell(cell, run["procs"]):
                return f"runs[{i}].sizes[{k}]{fault}"
    return ""


def fault_of_cell(cell: Cell, procs: int) -> str:
    """A cell whose numbers of observations and ranks do not agree."""
    if not cell["contenders"]:
        return " has no contenders"
    if cell["bytes"] < 0:
        return f".bytes is {cell['bytes']}"
    load = cell.get("load")
    if load is not None and (len(load) != 2 or not all(text.split() for text in load)):
        return ".load must have two texts, of before and after"
    count = len(cell["contenders"][0]["seconds"])
    for i, contender in enumerate(cell["contenders"]):
        where = f".contenders[{i}]"
        if not contender["seconds"] or len(contender["seconds"]) != count:
            return f"{where}.seconds must have as many observations as the first contender's, at least 1"
        if min(contender["seconds"]) < 0:
            return f"{where}.seconds has a time below 0"
        widths = set[int]()
        for name in BY_OBSERVATION:
            rows = cast(list[list[int]] | None, contender.get(name))
            if rows is not None:
                widths |= {len(row) for row in rows}
                if len(rows) != count or len(widths) != 1 or 0 in widths:
                    return f"{where}.{name} must have {count} observations of the same ranks"
        for name in BY_RANK:
            values = cast(list[float] | None, contender.get(name))
            if values is not None and len(values) != procs:
                return f"{where}.{name} must have a value for each of {procs} ranks"
    return ""


def journal_of(path: Path) -> Path:
    return path.with_name(path.name + ".part")
