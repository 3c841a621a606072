# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of two measurements, case by case."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from convene.base.text import seconds_text
from convene.bench.report import measured, sentences
from convene.bench.report.measured import SURE, Measured
from convene.bench.report.tables import CASE_HEADS, Table, case_cells
from convene.bench.summary import Case
from convene.stats import inference


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

    @property
    def verdict(self) -> str:
        if self.p_value >= SURE:
            return "no difference to be seen"
        return "faster" if self.ratio < 1 else "slower"


def compare(first: Measured, second: Measured) -> list[Compared]:
    """What both have. The observations have nothing to do with each other."""
    there = {(row.case, row.name): row.seconds.value for row in second.rows}
    found = []
    for row in first.rows:
        if (row.case, row.name) not in there:
            continue
        one, other = first.values(row.case, row.name), second.values(row.case, row.name)
        low, high = inference.ratio_interval(other, one)
        p_value = inference.p_value_of_groups(one, other)
        ratio = float(np.median(other) / np.median(one))
        found.append(
            Compared(
                row.case, row.name, float(np.median(one)), float(np.median(other)), ratio, low, high, p_value
            )
        )
    p_values = measured.corrected([each.p_value for each in found])
    return [Compared(**{**vars(each), "p_value": p}) for each, p in zip(found, p_values, strict=True)]


def comparison_sentences(first: Measured, second: Measured, compared: list[Compared]) -> list[str]:
    if not compared:
        return [f"{first.name} and {second.name} have no case and algorithm in common."]
    verdicts = Counter(each.verdict for each in compared)
    middle = float(np.exp(np.mean([np.log(each.ratio) for each in compared])))
    return [
        f"Of {len(compared)} pairs (case and algorithm), {second.name} is faster than {first.name} in "
        f"{verdicts['faster']} and slower in {verdicts['slower']} beyond chance (permutation test, "
        f"{inference.RESAMPLES:,} resamples, false discovery rate {sentences.percent(SURE)}); in "
        f"{verdicts['no difference to be seen']} no difference is to be seen.",
        f"The geometric mean of the ratios of medians is {middle:.3f} (below 1: {second.name} is faster).",
        "Both were measured at different times; the difference includes other load of the machines.",
    ]


def comparison_table(first: Measured, second: Measured, compared: list[Compared]) -> Table:
    return Table(
        "comparison",
        f"{second.name} against {first.name}",
        [*CASE_HEADS, "algorithm", first.name, second.name, "ratio", "low", "high", "p", "second is"],
        [
            [
                *case_cells(each.case),
                each.name,
                seconds_text(each.first),
                seconds_text(each.second),
                *(f"{x:.3f}" for x in (each.ratio, each.low, each.high)),
                f"{each.p_value:.4f}",
                each.verdict,
            ]
            for each in compared
        ],
        "Medians, the ratio's 95 % bootstrap interval, and p corrected for the number of pairs.",
    )
