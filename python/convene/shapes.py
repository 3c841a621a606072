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
    rounds: str
    native: bool
    parameters: list[Parameter]


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
