# SPDX-License-Identifier: BSD-3-Clause
"""Measured studies: an experiment of a publication on this machine, compared with the published results."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from rich.table import Table

from convene import _core
from convene.base import console, parsing
from convene.base.result_types import Judgement, Measurement
from convene.bench import metrics, requests
from convene.bench.summary import Case, cases
from convene.catalogue import selection
from convene.stats import arrivals

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Results = dict[str, Measurement]  # by collective
Row = TypeVar("Row", bound="DataclassInstance")


@dataclass(frozen=True)
class Part:
    """What is measured of one collective."""

    collective: str
    procs: Sequence[int]
    sizes: Callable[[int], list[int]]  # bytes, by the number of ranks
    algorithms: Sequence[str]  # those that do not support the number of ranks are left out
    metric: str
    distributions: tuple[str, ...] = ("regular",)
    arrivals: Callable[[int], list[str]] = field(default=lambda procs: [])  # besides the balanced case
    type: str = ""  # of the items; else as usual

    def requests(self, procs: int, template: requests.Request) -> list[requests.Request]:
        contenders = [
            name
            for name in self.algorithms
            if not _core.unmet(self.collective, name.partition("@")[0], procs)
        ]
        patterns = [_core.arrival_pattern(text, procs) for text in self.arrivals(procs)]
        return [
            replace(
                template,
                collective=self.collective,
                procs=procs,
                sizes=self.sizes(procs),
                contenders=[selection.check_contender(self.collective, procs, name) for name in contenders],
                distribution=distribution,
                arrivals=tuple(dict.fromkeys([requests.BALANCED, *patterns])),
            )
            for distribution in self.distributions
        ]


@dataclass(frozen=True)
class Study(Generic[Row]):
    """An experiment of a source, with a dataclass for each row of its findings."""

    name: str
    summary: str
    source: str
    machine: str  # the source's
    parts_of: Callable[[bool], list[Part]]  # of the full study, or of one that is scaled to a desk
    rows: Callable[[Results], list[Row]]
    columns: dict[str, Callable[[Row], str]]  # head: text of a row
    sentences: Callable[[list[Row]], list[str]]

    def parts(self, *, full: bool) -> list[Part]:
        return self.parts_of(full)

    def judge(self, results: Results) -> Judgement:
        """Measured and published results, also as a table and as sentences for the report."""
        rows = self.rows(results)
        return {
            "name": self.name,
            "source": self.source,
            "machine": self.machine,
            "rows": [asdict(row) for row in rows],
            "heads": list(self.columns),
            "table": [[text(row) for text in self.columns.values()] for row in rows],
            "sentences": self.sentences(rows),
        }

    def table(self, judged: Judgement) -> Table:
        title = f"Here, and in {self.source} ({self.machine})"
        table = console.table(title, *judged["heads"])
        for row in judged["table"]:
            table.add_row(*row)
        return table


def means(result: Measurement, metric: str) -> dict[Case, dict[str, float]]:
    """By case and algorithm: the metric's value, summed up as it wants to be, in seconds."""
    chosen = metrics.METRICS[metric]
    found = {}
    for case, cell in cases(result).items():
        values = metrics.values(cell, chosen)
        summed = values.mean(axis=1) if chosen.by == "mean" else median(values)
        names = [contender["name"].partition(";")[0] for contender in cell["contenders"]]
        found[case] = {name: float(value) for name, value in zip(names, summed, strict=True)}
    return found


def median(values: arrivals.Array) -> arrivals.Array:
    import numpy as np

    middle: arrivals.Array = np.median(values, axis=1)
    return middle


def percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} %"


def fixed(text: str) -> Callable[[int], list[int]]:
    """The same sizes for all numbers of ranks."""
    sizes = parsing.parse_sizes(text)
    return lambda procs: sizes
