# SPDX-License-Identifier: BSD-3-Clause
"""Exports of a recording: Chrome's trace format, which Perfetto reads, and arrival traces for bench."""

import numpy as np

from convene.base.result_types import Json
from convene.trace.lateness import Calls, Summary

MICROSECONDS = 1e6


def chrome_trace(summary: Summary) -> Json:
    """The timeline as trace events: one slice for each rank's part of a call, within it one for its waiting.
    Source: "Trace Event Format" (Chromium), complete events `X` and metadata `M`."""
    recording = summary.recording
    hosts = list(dict.fromkeys(recording.hosts.values()))
    events: list[Json] = [
        {"ph": "M", "name": "process_name", "pid": hosts.index(host), "tid": 0, "args": {"name": host}}
        for host in hosts
    ]
    events += [
        {
            "ph": "M",
            "name": "thread_name",
            "pid": hosts.index(host),
            "tid": rank,
            "args": {"name": f"rank {rank}"},
        }
        for rank, host in recording.hosts.items()
    ]
    for calls in summary.kinds:
        for index in range(len(calls)):
            events += call_events(calls, index, recording.start, hosts, recording.hosts)
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "program": ", ".join(recording.programs),
            "clock_error_us": recording.error * MICROSECONDS,
        },
    }


def call_events(
    calls: Calls, index: int, start: float, hosts: list[str], host_of: dict[int, str]
) -> list[Json]:
    kind = calls.kind
    described = describe_call(calls, index)
    events = []
    for member, rank in enumerate(kind.members):
        arrival, exit_ = calls.arrivals[index, member], calls.exits[index, member]
        left = not np.isnan(exit_)
        common = {"pid": hosts.index(host_of[rank]), "tid": rank, "ts": (arrival - start) * MICROSECONDS}
        events.append(
            {
                **common,
                "ph": "X" if left else "B",
                "cat": "collective",
                "name": kind.collective,
                "args": {**described, "lateness_us": calls.lateness[index, member] * MICROSECONDS},
                **({"dur": (exit_ - arrival) * MICROSECONDS} if left else {}),
            }
        )
        waited = float(calls.waiting[index, member])
        if left and waited > 0:
            events.append(
                {**common, "ph": "X", "cat": "waiting", "name": "waiting", "dur": waited * MICROSECONDS}
            )
    return events


def describe_call(calls: Calls, index: int) -> Json:
    """One call, times in seconds."""
    kind = calls.kind
    gain = float(calls.gain[index])
    return {
        "call": int(calls.number[index]),
        "site": kind.place,
        "algorithm": kind.algorithm,
        "bytes_per_block": int(calls.sizes[index]),
        "procs": len(kind.members),
        "last": int(calls.rank_last[index]),
        "imbalance": float(calls.imbalance[index]),
        "waiting": float(calls.waiting[index].sum()),
        "gain": None if np.isnan(gain) else gain,
    }


def arrival_trace(calls: Calls) -> str:
    """N lines of P values: arrivals in seconds after the first. `convene bench run --arrivals
    trace:FILE` reads it."""
    lines = [
        f"# {calls.kind.collective} at {calls.kind.place}: {len(calls)} calls of {len(calls.kind.members)} "
        "processes, in seconds after the first arrival"
    ]
    lines += [" ".join(f"{max(value, 0.0):.9f}" for value in row) for row in calls.lateness]
    return "\n".join(lines) + "\n"
