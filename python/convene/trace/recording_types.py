# SPDX-License-Identifier: BSD-3-Clause
"""Types of a recording's head, as a rank writes it."""

from typing import NotRequired, TypedDict


class SiteJson(TypedDict):
    collective: str
    root: int
    blocking: bool
    object: NotRequired[str]
    offset: NotRequired[int]
    symbol: NotRequired[str]


class ClockJson(TypedDict):
    at: float
    offset: float
    drift: float
    error: float


class CommunicatorJson(TypedDict):
    calls: int
    members: list[int]
    name: list[int]
    operation: int
    first: int
    rank: int
    sites: list[SiteJson]
    algorithms: list[tuple[str, str]]
    clock: ClockJson | None


class Head(TypedDict):
    convene_recording: int
    little_endian: bool
    rank: int
    procs: int
    clock_domain: int
    host: str
    program: str
    communicators: list[CommunicatorJson]
