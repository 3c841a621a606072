# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of two measurements, case by case."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from convene.bench.report import sentences
from convene.bench.report.measured import SURE, TIE, Measured
from convene.bench.report.tables import CASE_HEADS, Seconds, Table, case_cells
from convene.bench.summary import Case
from convene.stats import inference

UNCLEAR = "no difference to be seen"
SAME = "equally fast"


@dataclass(frozen=True)
class Compared:
    """One algorithm in one case, in two measurements: the second's time as a part of the first's."""

    case: Case
    name: str
    first: float
    second: float
    ratio: float
    low: float
    high: float
    p_value: float
    is_exact: bool = False  # of two noiseless simulations

    @property
    def verdict(self) -> str:
        if self.is_exact and abs(self.ratio - 1) <= TIE:
            return SAME
        if not self.is_exact and self.p_value >= SURE:
            return UNCLEAR
        return "faster" if self.ratio < 1 else "slower"


def compare(first: Measured, second: Measured) -> list[Compared]:
    """What both have. The observations have nothing to do with each other."""
    there = {(row.case, row.name): row.seconds.value for row in second.rows}
    found = []
    for row in first.rows:
        if (row.case, row.name) not in there:
            continue
        one, other = first.values(row.case, row.name), second.values(row.case, row.name)
        centres = (float(np.median(one)), float(np.median(other)))
        ratio = centres[1] / centres[0]
        if are_exact(first, second):
            found.append(Compared(row.case, row.name, *centres, ratio, ratio, ratio, 0.0, is_exact=True))
            continue
        low, high = inference.ratio_interval(other, one)
        p_value = inference.p_value_of_groups(one, other)
        found.append(Compared(row.case, row.name, *centres, ratio, low, high, p_value))
    p_values = inference.corrected([each.p_value for each in found])
    return [replace(each, p_value=p) for each, p in zip(found, p_values, strict=True)]


def are_exact(first: Measured, second: Measured) -> bool:
    return first.is_exact and second.is_exact


def comparison_sentences(first: Measured, second: Measured, compared: list[Compared]) -> list[str]:
    if not compared:
        return [f"{first.name} and {second.name} have no case and algorithm in common."]
    verdicts = Counter(each.verdict for each in compared)
    if are_exact(first, second):
        return [
            f"Of {len(compared)} pairs (case and algorithm), {second.name} is faster than {first.name} in "
            f"{verdicts['faster']} and slower in {verdicts['slower']}; in {verdicts[SAME]} both are equally "
            "fast.",
            mean_sentence(second, compared),
        ]
    return [
        f"Of {len(compared)} pairs (case and algorithm), {second.name} is faster than {first.name} in "
        f"{verdicts['faster']} and slower in {verdicts['slower']} beyond chance (permutation test, "
        f"{inference.RESAMPLES:,} resamples, false discovery rate {sentences.percent(SURE)}); in "
        f"{verdicts[UNCLEAR]} no difference is to be seen.",
        mean_sentence(second, compared),
        "Both were measured at different times; the difference includes other load of the machines.",
    ]


def mean_sentence(second: Measured, compared: list[Compared]) -> str:
    middle = float(np.exp(np.mean([np.log(each.ratio) for each in compared])))
    of = "times" if compared[0].is_exact else "medians"
    return f"The geometric mean of the ratios of {of} is {middle:.3f} (below 1: {second.name} is faster)."


def comparison_table(first: Measured, second: Measured, compared: list[Compared]) -> Table:
    is_exact = are_exact(first, second)
    return Table(
        "comparison",
        f"{second.name} against {first.name}",
        [
            *(*CASE_HEADS, "algorithm", first.name, second.name, "ratio"),
            *(() if is_exact else ("low", "high", "p")),
            "second is",
        ],
        [
            [
                *case_cells(each.case),
                each.name,
                Seconds(each.first),
                Seconds(each.second),
                f"{each.ratio:.3f}",
                *(() if is_exact else (f"{each.low:.3f}", f"{each.high:.3f}", f"{each.p_value:.4f}")),
                each.verdict,
            ]
            for each in compared
        ],
        "Simulated times without noise."
        if is_exact
        else "Medians, the ratio's 95 % bootstrap interval, and p corrected for the number of pairs.",
    )
