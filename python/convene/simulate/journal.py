# SPDX-License-Identifier: BSD-3-Clause
"""Journals of simulations: completed results, for resuming an interrupted sweep."""

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from convene import __version__
from convene._core import RequestError
from convene.base import jsons
from convene.base.core_types import Simulated
from convene.simulate.cases import Case

Entry = tuple[str, list[list[Simulated]]]  # a line of a journal: a case and its runs


class Journal:
    """Completed cases: a file to which each case is added when it is complete, as a line with its key and
    its runs. An interrupted simulation need not start again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, list[list[Simulated]]] = {}

    def read(self) -> None:
        """Takes over what an earlier run has done. Its last line may be cut off."""
        if not self.path.is_file():
            raise RequestError(f"there is nothing to resume: {self.path} does not exist; leave out --resume")
        *lines, last = self.path.read_text(encoding="utf-8", errors="replace").splitlines() or [""]
        for line in lines:
            self._take(line)
        with suppress(RequestError):
            self._take(last)
        if not '["'.startswith(last[:2]):
            raise RequestError(self.foreign())

    def _take(self, line: str) -> None:
        try:
            value = jsons.parse(line, str(self.path))
        except RequestError:
            value = None
        if jsons.fault_of(value, Entry):
            raise RequestError(self.foreign())
        self.known[value[0]] = value[1]

    def foreign(self) -> str:
        return f"{self.path} does not consist of results of a simulation; move it away, or give another -o"

    def begin(self) -> None:
        """Rewrites the known results, so that the file has complete lines only."""
        text = "".join(json.dumps(entry) + "\n" for entry in self.known.items())
        self._write(text, "w")

    def add(self, case: Case, runs: list[list[Simulated]]) -> None:
        self.known[self.key(case)] = runs
        self._write(json.dumps([self.key(case), runs]) + "\n", "a")

    def _write(self, text: str, mode: str) -> None:
        try:
            with self.path.open(mode, encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise RequestError(f"cannot write {self.path}: {error.strerror}") from None

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    @staticmethod
    def key(case: Case) -> str:
        """Equal for equal questions to the same version of Convene."""
        words = (__version__, type(case).__name__, repr(case))
        return hashlib.sha256("\n".join(words).encode()).hexdigest()
