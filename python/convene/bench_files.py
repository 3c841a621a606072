# SPDX-License-Identifier: BSD-3-Clause
"""Files of measurements: written at once when all is there, and read again. What there is of a measurement
that was interrupted stands in a folder beside, and is completed from it."""

import json
import shutil
from pathlib import Path
from typing import Any

from convene import bench, console
from convene._core import RequestError

FORMAT = 2


def write(path: Path, result: dict[str, Any]) -> None:
    """All or nothing: a file that was there before is replaced in one step."""
    new = path.with_name(path.name + ".new")
    console.write_file(new, json.dumps(result, ensure_ascii=False, separators=(",", ":")) + "\n")
    new.replace(path)


def read(path: Path) -> dict[str, Any]:
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
    return result


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


def difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """The first value in which two requests differ."""
    rows = [(before, now), *zip(before.get("requests", []), now.get("requests", []), strict=False)]
    for old, new in rows:
        for name in new:
            if name != "requests" and old.get(name) != new[name]:
                return f"{name} was {old.get(name)}, now {new[name]}"
    return "numbers of ranks or distributions"


class Journal:
    """A folder with what is measured so far: what was asked for, and a file for each start of the program. No
    start writes into another's file, so a rank that outlives its driver does no harm."""

    def __init__(self, folder: Path, asked: dict[str, Any], *, resume: bool) -> None:
        self.folder = folder
        request = folder / "request.json"
        if folder.exists() and not resume:
            raise RequestError(
                f"{folder} has what an interrupted measurement left; add --resume to go on with it, or "
                "remove it"
            )
        if resume and not request.is_file():
            raise RequestError(f"there is nothing to resume: {folder} does not exist; leave out --resume")
        if resume:
            self._check(request, asked)
        else:
            folder.mkdir()
            console.write_file(request, console.json_text(asked) + "\n")

    @staticmethod
    def _check(request: Path, asked: dict[str, Any]) -> None:
        try:
            before = json.loads(request.read_text(encoding="utf-8"))
        except ValueError:
            raise RequestError(f"{request} is damaged; remove {request.parent} and measure anew") from None
        wanted = json.loads(json.dumps(asked))
        if before != wanted:
            raise RequestError(
                f"the measurement in {request.parent} was asked for with other values "
                f"({difference(before, wanted)}); give the same ones, or remove it"
            )

    def next_file(self) -> Path:
        """Where the next start of the program is to write."""
        numbers = [int(path.stem) for path in self.folder.glob("[0-9]*.jsonl")]
        return self.folder / f"{max(numbers, default=0) + 1:04}.jsonl"

    def runs(self) -> list[dict[str, Any]]:
        """One run for each number of ranks and distribution, with all sizes that are complete, in the order
        in which they were measured."""
        found: dict[tuple[int, str], dict[str, Any]] = {}
        for path in sorted(self.folder.glob("[0-9]*.jsonl")):
            part = bench.read_lines(path)
            if part is None:
                continue
            key = (part["procs"], part["options"]["distribution"])
            run = found.setdefault(key, part | {"sizes": []})
            if run["environment"] != part["environment"]:
                run.setdefault("resumed", []).append(part["environment"])
            known = {(cell["bytes"], cell["arrivals"]) for cell in run["sizes"]}
            run["sizes"] += [cell for cell in part["sizes"] if (cell["bytes"], cell["arrivals"]) not in known]
        return list(found.values())

    def remove(self) -> None:
        shutil.rmtree(self.folder)


def left_over(request: bench.Request, runs: list[dict[str, Any]]) -> list[int]:
    """The sizes of a request of which not all patterns are measured."""
    known = {
        (cell["bytes"], cell["arrivals"])
        for run in runs
        if (run["procs"], run["options"]["distribution"]) == (request.procs, request.distribution)
        for cell in run["sizes"]
    }
    return [
        size for size in request.sizes if any((size, pattern) not in known for pattern in request.arrivals)
    ]
