# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work: a bar on a terminal, elsewhere a line every 30 seconds."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from convene.base import console
from convene.base.text import duration_text

EVERY = 30.0  # seconds between lines
ENOUGH = 0.05  # of the work, to estimate the rest


class Advance(Protocol):
    """So much is done, of so much; `work`: which part of all work that is, if units differ."""

    def __call__(self, done: float, total: float, work: float | None = None) -> None: ...


def part_of(done: float, total: float) -> float:
    return done / total if total else 0.0


class Lines:
    """Lines on stderr."""

    def __init__(self, verb: str, unit: str) -> None:
        self.verb, self.unit = verb, unit
        self.done, self.total, self.work, self.start = 0.0, 0.0, 0.0, time.monotonic()
        self.ended = threading.Event()

    def advance(self, done: float, total: float, work: float | None = None) -> None:
        self.done, self.total = done, total
        self.work = part_of(done, total) if work is None else work

    def sentence(self) -> str:
        passed = time.monotonic() - self.start
        text = f"{self.verb} for {duration_text(passed)}"
        if self.total:
            text += f": {int(self.done)} of {self.total:.0f} {self.unit} ({100 * self.work:.0f} %)"
        if ENOUGH < self.work < 1:
            text += f", about {duration_text(passed * (1 - self.work) / self.work)} left"
        return text

    def run(self) -> None:
        while not self.ended.wait(EVERY):
            console.complain(self.sentence())


@contextmanager
def shown(verb: str, unit: str) -> Iterator[Advance]:
    """Shows what the block reports through the function that it gets, such as "simulating", "simulations"."""
    if sys.stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
        output = console.make(error=True)
        with Progress(*columns, TimeRemainingColumn(), console=output, transient=True) as bar:
            task = bar.add_task(verb, total=None)

            def advance(done: float, total: float, work: float | None = None) -> None:
                bar.update(task, completed=part_of(done, total) if work is None else work, total=1.0)

            yield advance
        return
    lines = Lines(verb, unit)
    thread = threading.Thread(target=lines.run, daemon=True)
    thread.start()
    try:
        yield lines.advance
    finally:
        lines.ended.set()
        thread.join()
