# SPDX-License-Identifier: BSD-3-Clause
"""Results of the τ-Lop study, as its JSON has them."""

from typing import TypedDict

from convene.studies.taulop import expressions

Seconds = list[float] | None  # by size; None: the model has no prediction


class Compared(TypedDict):
    """Simulated and predicted seconds by size, and mean proportional errors."""

    where: str
    platform: str
    collective: str
    algorithm: str
    procs: int
    mapping: str
    calibrates: bool
    sizes: list[int]
    simulated: list[float]
    predicted: dict[str, Seconds]
    errors: dict[str, float | None]
    published: dict[str, float | None]


class Ratio(TypedDict):
    """How many times one operation takes the time of another, mean over sizes."""

    what: str
    published: float
    simulated: float
    predicted: dict[str, float]


class SummaRow(TypedDict):
    config: str
    equation: str
    printed: str
    derived: str
    agrees: bool
    difference: str
    ethernet: float
    infiniband: float


class Result(TypedDict):
    study: str
    source: str
    compared: list[Compared]
    ratios: list[Ratio]
    expressions: list[expressions.ExpressionRow]
    summa: list[SummaRow]
    remapping: str  # Config2 compared with Config2_mod on every machine: =, ≤, ≥ or ?
