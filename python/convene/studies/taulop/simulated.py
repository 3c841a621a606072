# SPDX-License-Identifier: BSD-3-Clause
"""τ-Lop's predictions against simulations on its platforms (Rico-Gallego 2015, chapters 4-6, appendix A)."""

import re
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from convene import _core
from convene.simulate import platforms
from convene.studies.simulated import Simulate, Study
from convene.studies.taulop import calibration, expressions
from convene.studies.taulop.calibration import Site
from convene.studies.taulop.experiment import (
    LONG,
    MODELS,
    PUBLISHED_RATIOS,
    PUBLISHED_SLOWDOWN,
    ROWS,
    SUMMA,
    Row,
    Summa,
)
from convene.studies.taulop.results import Compared, Ratio, Result, Seconds, SummaRow
from convene.studies.taulop.tables import sentences, tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Models:
    """A site with the models' parameters on it."""

    site: Site
    parameters: _core.ModelPlatform

    def predict(self, row: Row, model: str) -> Seconds:
        try:
            return [self.predict_one(row, model, size) for size in row.sizes]
        except _core.RequestError:  # LogP models have no transfers through shared memory
            return None

    def predict_one(self, row: Row, model: str, size: int) -> float:
        request = _core.ScheduleRequest(
            collective=row.collective,
            spec=row.spec_at(size),
            procs=row.procs,
            machine=self.site.machine,
            placement=row.mapping,
        )
        return _core.predict(request, self.parameters, model, [size])[0]


def proportional_error(real: list[float], predicted: list[float]) -> float:
    """(7.9), averaged over sizes."""
    return fmean(max(r, e) / min(r, e) for r, e in zip(real, predicted, strict=True))


def sites() -> dict[str, Site]:
    return {
        "metropolis": Site("metropolis", platforms.load_platform("metropolis"), 8, 4),
        "lusitania": Site("lusitania", platforms.load_platform("lusitania"), 128, 1),
    }


def simulate_rows(simulate: Simulate, found: dict[str, Site], rows: list[Row]) -> list[list[float]]:
    """By row, seconds by size."""
    cases = [
        found[row.site].case(row.collective, row.spec_at(size), row.procs, (size,), row.mapping)
        for row in rows
        for size in row.sizes
    ]
    results = iter(simulate(cases))
    return [[next(results)[0][0]["seconds"] for _ in row.sizes] for row in rows]


def compare(row: Row, models: Models, simulated: list[float]) -> Compared:
    predicted = {model: models.predict(row, model) for model in MODELS}
    return {
        "where": row.where,
        "platform": row.site,
        "collective": row.collective,
        "algorithm": row.spec,
        "procs": row.procs,
        "mapping": row.mapping,
        "calibrates": row.calibrates,
        "sizes": list(row.sizes),
        "simulated": simulated,
        "predicted": predicted,
        "errors": {
            model: proportional_error(simulated, values) if values else None
            for model, values in predicted.items()
        },
        "published": dict(zip(MODELS, row.published, strict=True)),
    }


def ratio(what: str, published: float, above: Compared, below: Compared) -> Ratio:
    def mean(first: list[float], second: list[float]) -> float:
        return fmean(a / b for a, b in zip(first, second, strict=True))

    predicted = {}
    for model in MODELS:
        first, second = above["predicted"][model], below["predicted"][model]
        assert first
        assert second
        predicted[model] = mean(first, second)
    return {
        "what": what,
        "published": published,
        "simulated": mean(above["simulated"], below["simulated"]),
        "predicted": predicted,
    }


def ring_ratio(compared: list[Compared]) -> Ratio:
    above, below = (
        next(row for row in compared if row["where"] == where) for where in ("figure 6.4", "figure 5.9")
    )
    return ratio("ring, P = 32: round robin / sequential", PUBLISHED_SLOWDOWN, above, below)


def doubling_ratios(simulate: Simulate, found: dict[str, Site], models: dict[str, Models]) -> list[Ratio]:
    """Recursive doubling of blocks of m/P against a binomial scatter of m (6.4)."""
    ratios = []
    for procs, published in PUBLISHED_RATIOS.items():
        sizes = tuple(size // 8 for size in LONG)
        rows = [
            Row("section 6.1", "lusitania", "allgather", "recursive_doubling", procs, sizes),
            Row("section 6.1", "lusitania", "scatter", "binomial", procs, sizes),
        ]
        times = simulate_rows(simulate, found, rows)
        above, below = (compare(row, models[row.site], own) for row, own in zip(rows, times, strict=True))
        what = f"recursive doubling / binomial scatter, P = {procs}"
        ratios.append(ratio(what, published, above, below))
    return ratios


def summa_row(each: Summa) -> SummaRow:
    derived = _core.summa(_core.SummaRequest(each.columns, each.nodes), 1, None, False)["total"]
    return {
        "config": each.name,
        "equation": each.equation,
        "printed": each.printed,
        "derived": derived,
        "agrees": terms(derived) == terms(each.printed),
        "difference": each.difference,
        "ethernet": each.measured[0],
        "infiniband": each.measured[1],
    }


def terms(text: str) -> set[str]:
    return {re.sub(r"\s", "", term) for term in text.split(" + ")}


def run(simulate: Simulate) -> Result:
    found = sites()
    models = {
        name: Models(site, calibration.calibrate(site, calibration.measure(simulate, site)))
        for name, site in found.items()
    }
    rows = list(ROWS)
    times = simulate_rows(simulate, found, rows)
    compared = [compare(row, models[row.site], own) for row, own in zip(rows, times, strict=True)]
    requests = {each.name: _core.SummaRequest(each.columns, each.nodes) for each in SUMMA}
    return {
        "study": "tau-lop",
        "source": "Rico-Gallego 2015, chapters 4 to 6 and appendix A",
        "compared": compared,
        "ratios": [ring_ratio(compared), *doubling_ratios(simulate, found, models)],
        "expressions": expressions.run(),
        "summa": [summa_row(each) for each in SUMMA],
        "remapping": _core.compare_summa(requests["Config2"], requests["Config2_mod"], True),
    }


def draw(result: Result) -> "Figure":
    from convene.studies.taulop import figure  # slow import of Matplotlib

    return figure.draw(result["compared"], result["ratios"])


STUDY = Study(
    "tau-lop", "predictions on Metropolis and Lusitania (Rico-Gallego 2015)", run, tables, sentences, draw
)
