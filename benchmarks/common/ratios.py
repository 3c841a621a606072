# SPDX-License-Identifier: BSD-3-Clause
"""How ratios of many cells are judged: intervals, a control, Holm's correction, and what could be noticed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from convene.stats.bootstrap import SAMPLES, Array, Estimate, estimate

LEVEL = 0.05  # of all verdicts "fails" together
WIDEST = 0.03  # half an interval; a wider one decides nothing
PLANTED = 1.05
TRIALS = 200  # planted slowdowns per cell
MOST_UNDECIDED, LEAST_DETECTED = 0.1, 0.95  # of the cells; of the planted slowdowns


@dataclass(frozen=True)
class Cell:
    """A cell's ratios, one per repetition: new to old, and old to old."""

    name: str
    ratios: Array
    control: Array


@dataclass(frozen=True)
class Judged:
    name: str
    repetitions: int
    ratio: Estimate
    control: Estimate
    p_value: float  # of a ratio that is at most the limit
    fails: bool
    detected: float  # share of planted slowdowns that were noticed

    @property
    def is_undecided(self) -> bool:
        return not self.fails and half_width(self.ratio) > WIDEST

    @property
    def verdict(self) -> str:
        return "fails" if self.fails else "undecided" if self.is_undecided else "holds"

    def as_json(self) -> dict[str, Any]:
        return {
            "cell": self.name,
            "repetitions": self.repetitions,
            **self.ratio.as_json("ratio"),
            "control": self.control.as_json("ratio"),
            "p_value": self.p_value,
            "verdict": self.verdict,
            "planted_detected": self.detected,
        }


def medians(values: Array, seed: int, samples: int = SAMPLES) -> Array:
    """Medians of resampled repetitions."""
    drawn = np.random.default_rng(seed).integers(0, len(values), (samples, len(values)))
    result: Array = np.median(values[drawn], axis=1)
    return result


def half_width(ratio: Estimate) -> float:
    return (ratio.high - ratio.low) / 2


def holm(p_values: list[float], level: float = LEVEL) -> list[bool]:
    """Which hypotheses are rejected: Holm's step-down correction for their number."""
    rejected = [False] * len(p_values)
    for rank, index in enumerate(np.argsort(p_values, kind="stable")):
        if p_values[index] > level / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected


def exceeds(ratios: Array, limit: float, seed: int, samples: int) -> float:
    """The share of resampled medians that are at most the limit; never 0, as none of them is certain. Few
    samples suffice where it is above the level of all cells together."""
    if samples > SAMPLES and (coarse := exceeds(ratios, limit, seed, SAMPLES)) > LEVEL:
        return coarse
    return (float(np.sum(medians(ratios, seed, samples) <= limit)) + 1) / (samples + 1)


def detection(control: Array, seed: int) -> float:
    """How often a planted slowdown is noticed: an interval above 1, of repetitions that are drawn anew."""
    random = np.random.default_rng(seed)
    number = len(control)
    noticed = 0
    for trial in range(TRIALS):
        planted = control[random.integers(0, number, number)] * PLANTED
        noticed += int(np.percentile(medians(planted, seed + trial + 1, 300), 2.5) > 1)
    return noticed / TRIALS


def is_weak(cell: Cell, seed: int = 0) -> bool:
    """Whether the interval of a cell is wide, or planted slowdowns are often missed."""
    interval = estimate(float(np.median(cell.ratios)), medians(cell.ratios, seed))
    return half_width(interval) > WIDEST or detection(cell.control, seed) < LEAST_DETECTED


def judge(cells: list[Cell], limit: float | list[float]) -> list[Judged]:
    """All cells, with a verdict each. `limit`: of the ratios, for all or for each cell."""
    samples = max(SAMPLES, 40 * len(cells))  # enough for the smallest level of Holm's
    limits = limit if isinstance(limit, list) else [limit] * len(cells)
    p_values = [
        exceeds(cell.ratios, most, seed, samples)
        for seed, (cell, most) in enumerate(zip(cells, limits, strict=True))
    ]
    judged = []
    for seed, (cell, p_value, fails) in enumerate(zip(cells, p_values, holm(p_values), strict=True)):
        own, control = (medians(values, seed) for values in (cell.ratios, cell.control))
        judged.append(
            Judged(
                cell.name,
                len(cell.ratios),
                estimate(float(np.median(cell.ratios)), own),
                estimate(float(np.median(cell.control)), control),
                p_value,
                fails,
                detection(cell.control, seed),
            )
        )
    return judged


def geometric_mean(cells: list[Cell]) -> Estimate:
    value = np.exp(np.mean([np.log(np.median(cell.ratios)) for cell in cells]))
    samples = np.exp(np.mean([np.log(medians(cell.ratios, seed)) for seed, cell in enumerate(cells)], axis=0))
    return estimate(float(value), samples)


def table(cells: list[dict[str, Any]]) -> list[str]:
    """Lines of Markdown: Judged.as_json() of each cell, the largest ratio first."""
    lines = [
        "| cell | ratio | 95 % | baseline against itself | verdict |",
        "|---|---:|---|---:|---|",
    ]
    return lines + [
        f"| {cell['cell']} | {cell['ratio']:.3f} | {cell['low']:.3f} … {cell['high']:.3f} "
        f"| {cell['control']['ratio']:.3f} | {cell['verdict']} |"
        for cell in sorted(cells, key=lambda each: -each["ratio"])
    ]
