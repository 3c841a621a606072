# SPDX-License-Identifier: BSD-3-Clause
"""Types of accounts: what each rank of a run writes. docs/reference/formats.md says what the members mean."""

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


class CommunicatorAccount(TypedDict):
    procs: int
    nodes: int
    records: list[CallRecord]
    phases: NotRequired[list[PhaseTally]]


class ThreadUsage(TypedDict):
    """The progress thread of a rank."""

    ran: bool
    cpu_seconds: float


class Account(TypedDict):
    rank: int
    procs: int
    messages: list[str]
    communicators: list[CommunicatorAccount]
    library_version: NotRequired[str]
    host: NotRequired[str]
    progress_thread: NotRequired[ThreadUsage | None]
