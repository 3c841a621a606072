# SPDX-License-Identifier: BSD-3-Clause
"""Types of profiles, the files that each rank of a run writes."""

from typing import NotRequired, TypedDict


class CallRecord(TypedDict):
    collective: str
    algorithm: str
    reason: str
    calls: int
    bytes_per_block: float
    seconds_total: float
    seconds_min: float
    seconds_max: float


class PhaseTally(TypedDict):
    """Runs with declared phases."""

    collective: str
    algorithm: str
    runs: int
    phases: int
    forecasts: int
    phase_seconds: float
    error_seconds: float
    messages: int
    early_messages: int


class CommunicatorProfile(TypedDict):
    procs: int
    nodes: int
    records: list[CallRecord]
    phases: NotRequired[list[PhaseTally]]


class ThreadUsage(TypedDict):
    """The progress thread of a rank."""

    ran: bool
    cpu_seconds: float


class Profile(TypedDict):
    rank: int
    procs: int
    messages: list[str]
    communicators: list[CommunicatorProfile]
    library_version: NotRequired[str]
    host: NotRequired[str]
    progress_thread: NotRequired[ThreadUsage | None]
