# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of a measurement: a row for each algorithm and case, with ratios and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from convene.base.result_types import Cell, Json, Measurement
from convene.bench import metrics
from convene.bench.metrics import METRICS, Metric
from convene.stats import bootstrap
from convene.stats.bootstrap import Estimate


@dataclass(frozen=True)
class Case:
    """What was measured, besides the algorithm."""

    procs: int
    size: int
    arrivals: str = "none"
    distribution: str = "regular"


@dataclass(frozen=True)
class Row:
    """One contender in one case: seconds per call, and how they compare to those of others."""

    case: Case
    name: str
    metric: Metric
    observations: int
    seconds: Estimate
    ratios: dict[str, Estimate]
    absorption: float | None = None  # normalised; median

    @property
    def size(self) -> int:
        return self.case.size

    def as_json(self) -> Json:
        return {
            "procs": self.case.procs,
            "bytes": self.size,
            "arrivals": self.case.arrivals,
            "distribution": self.case.distribution,
            "algorithm": self.name,
            "metric": self.metric.name,
            "observations": self.observations,
            **self.seconds.as_json(self.metric.by),
            "ratios": {name: ratio.as_json("ratio") for name, ratio in self.ratios.items()},
            **({} if self.absorption is None else {"normalised_absorption": self.absorption}),
        }


def summarize(
    cell: Cell,
    against: Sequence[str],
    metric: Metric = METRICS["max"],
    case: Case | None = None,
    balanced: Cell | None = None,
) -> list[Row]:
    """The rows of one case, with ratios to each reference. `balanced`: the same case without late ranks."""
    names = [contender["name"] for contender in cell["contenders"]]
    seconds = metrics.values(cell, metric)
    centres, samples = bootstrap.summed_up(seconds, metric.by), bootstrap.resample(seconds, metric.by)
    references = {name: names.index(name) for name in against if name in names}
    return [
        Row(
            case or Case(0, cell["bytes"]),
            name,
            metric,
            seconds.shape[1],
            bootstrap.estimate(centres[own], samples[own]),
            {
                reference: bootstrap.estimate(centres[own] / centres[other], samples[own] / samples[other])
                for reference, other in references.items()
                if other != own
            },
            absorption_of(name, balanced, cell) if balanced else None,
        )
        for own, name in enumerate(names)
    ]


def absorption_of(name: str, balanced: Cell, late: Cell) -> float:
    """The median of the normalised absorption."""
    own = [next(each for each in cell["contenders"] if each["name"] == name) for cell in (balanced, late)]
    return float(np.median(metrics.absorbed(own[0], own[1]).normalised))


def cases(result: Measurement) -> dict[Case, Cell]:
    """All cases of a measurement."""
    return {
        Case(
            run["procs"],
            cell["bytes"],
            cell.get("arrivals", "none"),
            run.get("options", {}).get("distribution", "regular"),
        ): cell
        for run in result["runs"]
        for cell in run["sizes"]
    }


def summarize_all(result: Measurement, against: Sequence[str], metric: Metric) -> list[Row]:
    known = cases(result)
    rows = []
    for case, cell in known.items():
        balanced = known.get(Case(case.procs, case.size, "none", case.distribution))
        is_late = case.arrivals != "none"
        rows += summarize(cell, against, metric, case, balanced if is_late else None)
    return rows
