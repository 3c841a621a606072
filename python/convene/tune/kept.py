# SPDX-License-Identifier: BSD-3-Clause
"""What an interrupted tuning has measured: a directory with a journal for each stage of a collective."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from convene._core import RequestError
from convene.base import console, jsons
from convene.base.jsons import JsonError
from convene.base.result_types import MeasuredRun
from convene.bench import journal, program
from convene.bench.journal import Journal
from convene.bench.requests import Request
from convene.mpi.settings import Setting

Asked = Mapping[str, Any]  # settings of the tuning, as JSON
PLACE = ("mpi", "processor", "cores", "host_of_rank")  # where a measurement may be completed


def folder_of(path: Path) -> Path:
    """Of the wisdom file that the tuning writes."""
    return path.with_name(path.name + ".part")


class Kept:
    """Measurements of one tuning. They are kept until it is complete."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def measure(
        self, setting: Setting, name: str, request: Request, progress: Callable[[float, float], None]
    ) -> MeasuredRun:
        """The result of a stage: what is kept of it, and the missing sizes. Raises RunError or
        RequestError."""
        folder = self.folder / name
        asked = {"launcher": str(setting.launcher.path), **asdict(request)}
        stage = Journal(folder, asked, resume=(folder / "request.json").is_file())
        missing = journal.left_over(request, stage.runs())
        if missing:
            program.measure(setting, replace(request, sizes=missing), progress, stage.next_file())
        (run,) = stage.runs()
        for other in run.get("resumed", []):
            for field in PLACE:
                if other.get(field) != run["environment"].get(field):
                    raise RequestError(
                        f"the tuning in {self.folder} began where {field} was "
                        f"{run['environment'].get(field)}, now it is {other.get(field)}; remove "
                        "the directory and leave out --resume"
                    )
        return run

    def sizes(self) -> int:
        """The number of measured sizes, of all stages."""
        runs = [program.read_lines(path) for path in self.folder.glob("*/[0-9]*.jsonl")]
        return sum(len(run["sizes"]) for run in runs if run)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def temporary() -> Iterator[Kept]:
    """Of a tuning that cannot be resumed."""
    with tempfile.TemporaryDirectory(prefix="convene-tune-") as folder:
        yield Kept(Path(folder))


def kept_at(folder: Path, asked: Asked, *, resume: bool) -> Kept:
    """Begins a directory, or continues one that was made with the same settings."""
    request = folder / "tuning.json"
    if folder.exists() and not resume:
        raise RequestError(
            f"{folder} contains results of an interrupted tuning; add --resume to complete it, or remove the "
            "directory"
        )
    if not resume:
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise RequestError(f"cannot create {folder}: {error.strerror}") from None
        console.write_file(request, console.json_text(asked) + "\n")
        return Kept(folder)
    if not request.is_file():
        raise RequestError(f"there is nothing to resume: {folder} does not exist; leave out --resume")
    try:
        before = jsons.check(jsons.read(request), dict[str, object], str(request))
    except JsonError:
        raise RequestError(f"{request} is damaged; remove {folder} and tune again") from None
    wanted = json.loads(json.dumps(asked))
    if before != wanted:
        raise RequestError(
            f"the tuning in {folder} has other settings ({journal.difference(before, wanted)}); repeat "
            "these, or remove the directory and leave out --resume"
        )
    return Kept(folder)
