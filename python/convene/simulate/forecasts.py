# SPDX-License-Identifier: BSD-3-Clause
"""Simulation cases of algorithms that receive a forecast of arrivals."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from statistics import fmean
from typing import Any

from convene import _core
from convene.base.core_types import Simulated
from convene.catalogue.algorithms import uses_forecast
from convene.simulate import inputs
from convene.simulate.cases import Case
from convene.simulate.inputs import Pattern

WINDOW = 5  # earlier calls whose arrivals an average is taken of
MOST_ROUNDS = 1e6  # of a forecast, as in src/experiment/simulation_request.cpp


@dataclass(frozen=True)
class ForecastCase(Case):
    """A case whose algorithm receives a forecast, one of catalogue.selection.FORECASTS."""

    forecast: str = "truth"

    @property
    def name(self) -> str:
        return f"{self.spec}@{self.forecast}"

    def simulate(self, on_part: Callable[[], None] | None = None) -> list[list[Simulated]]:
        pieces = _core.pieces(self.collective, self.spec, self.procs)
        expected = forecasts_of(self.forecast, self.arrivals)
        runs: list[list[Simulated]] = []
        for size in self.sizes:
            round_ = inputs.round_seconds(self.platform, size / pieces)
            rounds = tuple(in_rounds(each, round_) for each in expected)
            plain = {**fields_of(self), "sizes": (size,), "forecasts": rounds}
            runs += Case(**plain).simulate(on_part)
        return runs


def forecasts_of(kind: str, patterns: tuple[Pattern, ...]) -> list[Pattern]:
    """The expected arrivals of each pattern, in seconds. `average`: the mean of the patterns before; without
    any, all ranks are expected together."""
    if kind == "truth":
        return list(patterns)
    if kind == "mirrored":
        return [pattern[::-1] for pattern in patterns]
    balanced = [(0.0,) * len(patterns[0])]
    before = [patterns[max(0, number - WINDOW) : number] or balanced for number in range(len(patterns))]
    return [tuple(fmean(each) for each in zip(*window, strict=True)) for window in before]


def in_rounds(arrivals: Pattern, round_: float) -> tuple[int, ...]:
    """The arrivals after the first one, in rounds of `round_` seconds."""
    first = min(arrivals)
    return tuple(round(min((at - first) / round_, MOST_ROUNDS)) for at in arrivals)


def with_forecast(name: str, collective: str, kind: str) -> str:
    """The contender's name with this forecast, if its algorithm uses one and has none yet."""
    return (
        f"{name}@{kind}" if kind != "none" and "@" not in name and uses_forecast(collective, name) else name
    )


def give_forecasts(cases: list[Case]) -> list[Case]:
    """The cases, those named ALGORITHM@FORECAST with a forecast."""
    return [forecast_case(each) if "@" in each.spec and not each.schedule else each for each in cases]


def forecast_case(case: Case) -> Case:
    spec, _, forecast = case.spec.partition("@")
    return ForecastCase(**{**fields_of(case), "spec": spec}, forecast=forecast)


def fields_of(case: Case) -> dict[str, Any]:
    return {field.name: getattr(case, field.name) for field in fields(Case)}
