# SPDX-License-Identifier: BSD-3-Clause
"""The mini-benchmark with declared phases: cells, gains and tables, from what its MPI program prints."""

from typing import TypedDict

import numpy as np

from convene.base.result_types import Json
from convene.run.accounts import Accounts
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


def label(algorithm: str) -> str:
    """Short: BDR/8 is bdr with eight segments."""
    name, *parameters = algorithm.split(";")
    return "/".join([SHORT.get(name, name), *(each.removeprefix("segments=") for each in parameters)])


def uses_forecasts(algorithm: str) -> bool:
    return algorithm.split(";")[0] in FORECASTING


class Cell:
    """All algorithms at one size and one greatest delay."""

    def __init__(self, line: Line) -> None:
        self.procs, self.floats = int(line["procs"]), int(line["floats"])
        self.delay = float(line["max_delay_ms"])
        self.elapsed = {name: np.array(seconds) for name, seconds in line["elapsed"].items()}
        self.mean: dict[str, float] = {
            name: float(np.mean(seconds)) for name, seconds in self.elapsed.items()
        }

    def best(self, forecasting: bool) -> str:
        """The fastest algorithm of those that use forecasts, or of the others."""
        names = [name for name in self.mean if uses_forecasts(name) == forecasting]
        return min(names, key=self.mean.__getitem__)

    def gain(self, forecasting: str) -> float:
        """Average elapsed time of the best regular algorithm over that of this one."""
        return self.mean[self.best(forecasting=False)] / self.mean[forecasting]

    def gain_interval(self, forecasting: str) -> Estimate:
        """Of the median of the same ratio within iterations, which have the same delays."""
        pair = self.elapsed[self.best(forecasting=False)] / self.elapsed[forecasting]
        ratios = pair[np.newaxis, :]
        return estimate(float(np.median(pair)), resample_medians(ratios)[0])

    @property
    def text(self) -> str:
        best = min(self.mean, key=lambda name: self.mean[name])
        return f"{label(best)} {self.gain(best):.2f}" if uses_forecasts(best) else label(best)

    def as_json(self) -> Json:
        best = self.best(forecasting=True)
        return {
            "procs": self.procs,
            "floats": self.floats,
            "max_delay_ms": self.delay,
            "best_regular": self.best(forecasting=False),
            "best_forecasting": best,
            "gain": self.gain(best),
            "median_gain": self.gain_interval(best).as_json("ratio"),
            "mean_elapsed": self.mean,
            "elapsed": {name: list(map(float, seconds)) for name, seconds in self.elapsed.items()},
        }


def forecasts(found: Accounts, seconds: float) -> str:
    """How the forecasts did, and what the threads cost."""
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
    interval = cell.gain_interval(name)
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
