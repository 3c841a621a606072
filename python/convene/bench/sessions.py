# SPDX-License-Identifier: BSD-3-Clause
"""Measurement sessions: from the options to requests, and from the runs to the result."""

from dataclasses import dataclass, replace

from convene import _core
from convene._core import RequestError
from convene.base.result_types import MeasuredRun, Measurement
from convene.bench import files
from convene.bench.metrics import Metric
from convene.bench.requests import BALANCED, Request
from convene.bench.summary import Row, summarize_all
from convene.catalogue import selection


@dataclass(frozen=True)
class Scope:
    """What a measurement compares: contenders and references, at all sizes, with all patterns of arrival."""

    procs: list[int]
    sizes: list[int]
    distributions: list[str]
    algorithms: str
    against: str
    arrivals: str


def parse_patterns(text: str, procs: int) -> tuple[str, ...]:
    """The arrival patterns. The balanced one is always among them, since the others are compared to it."""
    patterns = [_core.arrival_pattern(part, procs) for part in text.split(",")]
    return tuple(dict.fromkeys([BALANCED, *patterns]))


def make_requests(scope: Scope, template: Request) -> tuple[list[Request], list[str]]:
    """One request for each start of the program, like the template but for the scope; and the references."""
    requests, references = [], list[str]()
    collective = template.collective
    for number in scope.procs:
        references = selection.choose_algorithms(collective, number, scope.against)
        chosen = selection.choose_algorithms(collective, number, scope.algorithms)
        contenders = list(dict.fromkeys([*references, *chosen]))
        if not contenders:
            raise RequestError("--algorithms and --against are empty; name an algorithm")
        patterns = parse_patterns(scope.arrivals, number)
        requests += [
            replace(
                template,
                procs=number,
                sizes=scope.sizes,
                contenders=contenders,
                distribution=distribution,
                arrivals=patterns,
            )
            for distribution in scope.distributions
        ]
    if template.root >= min(scope.procs):
        least = min(scope.procs)
        raise RequestError(
            f"--root {template.root} is out of range ({least} ranks); give a rank from 0 to {least - 1}"
        )
    return requests, references


Finished = tuple[Measurement, list[Row]]


def finish(collective: str, references: list[str], runs: list[MeasuredRun], metric: Metric) -> Finished:
    """The whole result, and its summary."""
    result: Measurement = {
        "format": files.FORMAT,
        "collective": collective,
        "against": references,
        "metric": metric.name,
        "runs": runs,
    }
    rows = summarize_all(result, references, metric)
    result["summary"] = [row.as_json() for row in rows]
    return result, rows
