# SPDX-License-Identifier: BSD-3-Clause
"""What the dictionaries hold that convene._core returns."""

from typing import TypedDict


class Parameter(TypedDict):
    name: str
    summary: str
    default: str | int
    words: list[str]
    least: int | None
    most: int | None


class Algorithm(TypedDict):
    name: str
    summary: str
    source: str
    collectives: list[str]
    requirement: str
    symmetry: str
    learns: str
    rounds: str
    native: bool
    parameters: list[Parameter]


class ArrivalKind(TypedDict):
    name: str
    parameters: str
    summary: str


class Counts(TypedDict):
    rounds: int
    messages: int
    blocks: int
    most_messages_sent: int
    most_blocks_sent: int
    most_messages_received: int
    most_blocks_received: int
    most_blocks_combined: int
    scratch: int
    steps: int
    edges: int
    memory: int


class Verdict(Counts):
    ok: bool
    why: str


class Rule(TypedDict):
    line: int
    collective: str
    use: str


class Platform(TypedDict):
    name: str
    description: str
    source: str
    machine: str
    assumed: list[str]
    models: list[str]
    channels: list[str]


class CostExpression(TypedDict):
    stages: str
    sum: str


class SimulatedMachine(TypedDict):
    name: str
    machine: str
    nodes: int
    cores: int


class CriticalStep(TypedDict):
    rank: int
    step: int
    kind: str
    round: int
    ready: float
    finished: float
    waited: bool


class Simulated(TypedDict):
    """One run of the player. Times are in seconds."""

    seconds: float  # from the first arrival to the last exit
    mean: float  # of all ranks, from arrival to exit
    waiting: float  # of it, without work for the processor
    messages: int
    bytes: float
    channels: dict[str, float]  # by kind: the share of the time in which the busiest of them carried anything
    critical_path: list[CriticalStep]
