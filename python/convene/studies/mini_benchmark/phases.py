# SPDX-License-Identifier: BSD-3-Clause
"""The mini-benchmark with declared phases: cells, gains and tables, from what its MPI program prints."""

from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np

from convene.base.result_types import Json
from convene.run.profiles import Profiles
from convene.stats.bootstrap import Estimate, estimate, resample_medians
from convene.studies.mini_benchmark.experiment import AWARE, OWN, REGULAR

FORECASTING = tuple((AWARE | OWN).values())
SHORT = {name: short for short, name in (REGULAR | AWARE | OWN).items()} | {"native": "native"}


class Line(TypedDict):
    """What the program prints of a cell; times in seconds, by algorithm."""

    procs: int
    floats: int
    max_delay_ms: float
    elapsed: dict[str, list[float]]


class Gain(TypedDict):
    """The median gain of an algorithm over the best regular one, with its interval."""

    algorithm: str
    ratio: float
    low: float
    high: float


class CellSummary(TypedDict):
    procs: int
    floats: int
    max_delay_ms: float
    best_regular: str
    best_forecasting: str
    gain: float
    gains: list[Gain]
    mean_elapsed: dict[str, float]  # seconds


def label(algorithm: str) -> str:
    """Short: BDR/8 is bdr with eight segments."""
    name, *parameters = algorithm.split(";")
    return "/".join([SHORT.get(name, name), *(each.removeprefix("segments=") for each in parameters)])


def uses_forecasts(algorithm: str) -> bool:
    return algorithm.split(";")[0] in FORECASTING


@dataclass(frozen=True)
class Cell:
    """All algorithms at one size and one greatest delay. A gain over the best regular algorithm is a median
    within iterations, which have the same delays."""

    procs: int
    floats: int
    delay: float  # milliseconds
    mean: dict[str, float]  # seconds
    gains: dict[str, Estimate]
    elapsed: dict[str, list[float]] = field(default_factory=dict)  # by iteration; none in a summary

    @classmethod
    def measured(cls, line: Line) -> "Cell":
        elapsed = {name: list(map(float, seconds)) for name, seconds in line["elapsed"].items()}
        mean = {name: float(np.mean(seconds)) for name, seconds in elapsed.items()}
        regular = elapsed[best_of(mean, forecasting=False)]
        gains = {
            name: gain_interval(regular, seconds) for name, seconds in elapsed.items() if uses_forecasts(name)
        }
        return cls(int(line["procs"]), int(line["floats"]), float(line["max_delay_ms"]), mean, gains, elapsed)

    @classmethod
    def from_json(cls, value: CellSummary) -> "Cell":
        gains = {row["algorithm"]: Estimate(row["ratio"], row["low"], row["high"]) for row in value["gains"]}
        return cls(value["procs"], value["floats"], value["max_delay_ms"], value["mean_elapsed"], gains)

    def best(self, forecasting: bool) -> str:
        """The fastest algorithm of those that use forecasts, or of the others."""
        return best_of(self.mean, forecasting)

    def gain(self, forecasting: str) -> float:
        """Average elapsed time of the best regular algorithm over that of this one."""
        return self.mean[self.best(forecasting=False)] / self.mean[forecasting]

    @property
    def text(self) -> str:
        best = min(self.mean, key=lambda name: self.mean[name])
        return f"{label(best)} {self.gain(best):.2f}" if uses_forecasts(best) else label(best)

    def as_json(self) -> CellSummary:
        best = self.best(forecasting=True)
        return {
            "procs": self.procs,
            "floats": self.floats,
            "max_delay_ms": self.delay,
            "best_regular": self.best(forecasting=False),
            "best_forecasting": best,
            "gain": self.gain(best),
            "gains": [
                {"algorithm": name, "ratio": each.value, "low": each.low, "high": each.high}
                for name, each in self.gains.items()
            ],
            "mean_elapsed": self.mean,
        }

    def observed(self) -> Json:
        return {"floats": self.floats, "max_delay_ms": self.delay, "elapsed": self.elapsed}


def best_of(mean: dict[str, float], forecasting: bool) -> str:
    names = [name for name in mean if uses_forecasts(name) == forecasting]
    return min(names, key=mean.__getitem__)


def gain_interval(regular: list[float], seconds: list[float]) -> Estimate:
    pair = np.array(regular) / np.array(seconds)
    return estimate(float(np.median(pair)), resample_medians(pair[np.newaxis, :])[0])


def forecasts(found: Profiles, seconds: float) -> str:
    """Sentences on forecast errors and the cost of threads."""
    parts = [
        f"{label(row.algorithm)}: wrong by {row.error_per_forecast * 1e3:.1f} ms of "
        f"{row.seconds_per_phase * 1e3:.0f} ms in the mean, "
        f"{100 * row.early_messages / max(row.messages, 1):.0f} % of the messages before the own phase's end"
        for row in found.phases
    ]
    if found.background.ran:
        share = found.background.cpu_seconds / found.background.ran / seconds
        parts.append(f"a thread used {100 * share:.2f} % of a processor")
    return "; ".join(parts)


def greatest_gain(cells: list[Cell], name: str) -> str:
    """Of one algorithm that uses forecasts over the best regular one."""
    cell = max(cells, key=lambda each: each.gain(name))
    interval = cell.gains[name]
    return (
        f"{label(name)} {cell.gain(name):.2f} (against {label(cell.best(forecasting=False))}, "
        f"{cell.floats // 1024} K floats, {cell.delay:g} ms; median within iterations {interval.value:.2f}, "
        f"95 % interval {interval.low:.2f} … {interval.high:.2f})"
    )


def markdown(cells: list[Cell], title: str) -> str:
    delays = sorted({cell.delay for cell in cells})
    sizes = sorted({cell.floats for cell in cells})
    at = {(cell.floats, cell.delay): cell for cell in cells}
    heads = " | ".join(f"{delay:g}" for delay in delays)
    lines = [
        title,
        "",
        f"| size (K floats) \\ greatest delay (ms) | {heads} |",
        "|---:|" + "---|" * len(delays),
    ]
    for size in sizes:
        row = " | ".join(at[size, delay].text for delay in delays)
        lines.append(f"| {size // 1024} | {row} |")
    names = list(cells[0].mean)
    greatest = [greatest_gain(cells, name) for name in names if uses_forecasts(name)]
    lines += ["", f"Greatest gains: {'; '.join(greatest)}.", "", "Average elapsed time in ms:", ""]
    lines += [
        "| K floats | delay (ms) | " + " | ".join(label(name) for name in names) + " |",
        "|---:|---:|" + "---:|" * len(names),
    ]
    for size in sizes:
        for delay in delays:
            means = " | ".join(f"{at[size, delay].mean[name] * 1e3:.1f}" for name in names)
            lines.append(f"| {size // 1024} | {delay:g} | {means} |")
    return "\n".join(lines) + "\n"
