# SPDX-License-Identifier: BSD-3-Clause
"""Types of results: what `convene bench` and `convene simulate` write with -o (docs/reference/formats.md)."""

from typing import NotRequired, TypedDict

from convene.base.core_types import CriticalStep

Json = dict[str, object]  # an object of JSON that is written, and not read by this program


class Contender(TypedDict):
    """One algorithm at one size: a value for each observation."""

    name: str
    seconds: list[float]
    # Measured: by observation and rank, in nanoseconds.
    arrival: NotRequired[list[list[int]]]
    exit: NotRequired[list[list[int]]]
    wanted: NotRequired[list[list[int]]]
    valid: NotRequired[list[int]]
    # Measured: by rank.
    processor_seconds: NotRequired[list[float]]
    voluntary_switches: NotRequired[list[float]]
    involuntary_switches: NotRequired[list[float]]
    # Simulated.
    mean: NotRequired[list[float]]
    lower_bound: NotRequired[list[float]]  # no algorithm's `seconds` is less
    mean_lower_bound: NotRequired[list[float]]
    waiting: NotRequired[list[float]]
    messages: NotRequired[int]
    sent: NotRequired[float]
    channels: NotRequired[dict[str, float]]
    critical_path: NotRequired[list[CriticalStep]]


class Clock(TypedDict, total=False):
    error: list[float]
    shared: list[bool]


class Cell(TypedDict):
    """All contenders at one size, under one pattern of arrivals."""

    bytes: int
    contenders: list[Contender]
    arrivals: NotRequired[str]
    calls: NotRequired[int]
    load: NotRequired[list[str]]
    clock: NotRequired[Clock]


class Environment(TypedDict):
    mpi: str
    cores: int
    hosts: list[str]
    processor: NotRequired[str]
    started: NotRequired[str]
    host_of_rank: NotRequired[list[str]]
    kernel: NotRequired[str]
    governor: NotRequired[str]


class MeasuredOptions(TypedDict, total=False):
    """The options of a measurement that this program reads; the file has more."""

    distribution: str
    check: str


class MeasuredRun(TypedDict):
    """One start of the measuring program."""

    collective: NotRequired[str]
    simulated: NotRequired[bool]
    procs: int
    environment: Environment
    options: MeasuredOptions
    sizes: list[Cell]
    command: NotRequired[list[str]]
    variables: NotRequired[dict[str, str]]
    resumed: NotRequired[list[Environment]]
    footprint: NotRequired[Json]


class Judgement(TypedDict):
    """A study's results and the published ones."""

    name: str
    source: str
    machine: str
    rows: list[Json]
    heads: list[str]
    table: list[list[str]]
    sentences: list[str]


class Measurement(TypedDict):
    """A file of `convene bench -o`."""

    collective: str
    runs: list[MeasuredRun]
    format: NotRequired[int]
    against: NotRequired[list[str]]
    metric: NotRequired[str]
    summary: NotRequired[list[Json]]
    study: NotRequired[Judgement]


class Simulation(TypedDict):
    """A file of `convene simulate sweep -o` and `convene simulate program -o`."""

    format: int
    simulated: bool
    metric: str
    environment: Environment
    collective: str
    procs: int
    root: int
    platform: Json
    options: Json
    sizes: list[Cell]
    skeleton: NotRequired[Json]
