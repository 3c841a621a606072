# SPDX-License-Identifier: BSD-3-Clause
"""Journals of measurements: the folder from which an interrupted one is completed."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convene._core import RequestError
from convene.base import console, jsons
from convene.base.jsons import JsonError
from convene.base.result_types import MeasuredRun
from convene.bench import program, requests

Asked = Mapping[str, Any]  # the request as JSON


def difference(before: Asked, now: Asked) -> str:
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

    def __init__(self, folder: Path, asked: Asked, *, resume: bool) -> None:
        self.folder = folder
        request = folder / "request.json"
        if folder.exists() and not resume:
            raise RequestError(
                f"{folder} contains results of an interrupted measurement; add --resume to complete it, or "
                "remove the directory"
            )
        if resume and not request.is_file():
            raise RequestError(f"there is nothing to resume: {folder} does not exist; leave out --resume")
        if resume:
            self._check(request, asked)
        else:
            try:
                folder.mkdir()
            except OSError as error:
                raise RequestError(f"cannot create the directory {folder}: {error.strerror}") from None
            console.write_file(request, console.json_text(asked) + "\n")

    @staticmethod
    def _check(request: Path, asked: Asked) -> None:
        try:
            before = jsons.check(jsons.read(request), dict[str, object], str(request))
        except JsonError:
            raise RequestError(f"{request} is damaged; remove {request.parent} and measure again") from None
        wanted = json.loads(json.dumps(asked))
        if before != wanted:
            raise RequestError(
                f"the measurement in {request.parent} has other settings ({difference(before, wanted)}); "
                "repeat these, or remove the directory and leave out --resume"
            )

    def next_file(self) -> Path:
        """Where the next start of the program is to write."""
        numbers = [int(path.stem) for path in self.folder.glob("[0-9]*.jsonl")]
        return self.folder / f"{max(numbers, default=0) + 1:04}.jsonl"

    def runs(self) -> list[MeasuredRun]:
        """One run for each number of ranks and distribution, with all sizes that are complete, in the order
        in which they were measured."""
        found: dict[tuple[int, str], MeasuredRun] = {}
        for path in sorted(self.folder.glob("[0-9]*.jsonl")):
            part = program.read_lines(path)
            if part is None:
                continue
            key = (part["procs"], part["options"]["distribution"])
            run = found.setdefault(key, {**part, "sizes": []})
            if run["environment"] != part["environment"]:
                run.setdefault("resumed", []).append(part["environment"])
            known = {(cell["bytes"], cell["arrivals"]) for cell in run["sizes"]}
            run["sizes"] += [cell for cell in part["sizes"] if (cell["bytes"], cell["arrivals"]) not in known]
        return list(found.values())

    def remove(self) -> None:
        shutil.rmtree(self.folder)


def left_over(request: requests.Request, runs: list[MeasuredRun]) -> list[int]:
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
