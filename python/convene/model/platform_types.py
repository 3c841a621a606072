# SPDX-License-Identifier: BSD-3-Clause
"""Types of a measured platform: the observations of tools/measure.cpp, and the platform file made of them."""

from typing import Any, NotRequired, TypedDict

from convene.base.result_types import Environment

Points = list[list[float]]  # bytes and time
# By name: a number, points, or a table of points.
Parameters = dict[str, Any]


class PointJson(TypedDict):
    bytes: int
    seconds: list[float]
    calls: NotRequired[int]
    delay: NotRequired[float]


class SeriesJson(TypedDict):
    operation: str
    channel: str
    tau: int
    messages: int
    algorithm: str
    points: list[PointJson]


class Observed(TypedDict):
    """Every observation, and how they were taken."""

    format: int
    stack: str
    environment: Environment
    procs: int
    nodes: list[int]
    series: list[SeriesJson]
    protocols: dict[str, int | None]
    command: list[str]
    variables: dict[str, str]


class Interval(TypedDict):
    low: float | list[float]
    high: float | list[float]


class KinkJson(TypedDict):
    operation: str
    between: list[int]
    times: list[float]


class Protocol(TypedDict):
    sender_waits_from: int | None
    kinks: list[KinkJson]


class Packing(TypedDict, total=False):
    packing: Points


class Model(Packing):
    time_unit: str
    copy: dict[str, Points]
    computation: dict[str, Points]
    channels: list[Parameters]


class Measured(TypedDict):
    environment: Environment
    command: list[str]
    ranks: int
    cache: str
    reduction: str
    fitted_to: list[str]
    protocols: dict[str, Protocol]
    cross_checks: dict[str, dict[str, float]]
    issue_cost: dict[str, float]
    intervals: dict[str, Interval]


class MeasuredPlatform(TypedDict):
    """A platform file of `convene measure`; times in µs."""

    name: str
    description: str
    source: str
    machine: str
    assumed: list[str]
    model: Model
    measured: Measured
