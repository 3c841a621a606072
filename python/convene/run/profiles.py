# SPDX-License-Identifier: BSD-3-Clause
"""Profiles: counts and times of the ranks of a program, combined."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from convene._core import RequestError
from convene.base import jsons
from convene.base.result_types import Json
from convene.run import folders, phases
from convene.run.phases import Background, PhaseRow
from convene.run.profile_types import CallRecord, CommunicatorProfile, Profile


@dataclass
class Row:
    """One (collective, algorithm, reason, size of communicator, size of block), over all ranks."""

    collective: str
    algorithm: str
    reason: str
    procs: int
    nodes: int
    calls_of_ranks: int = 0
    block_bytes_of_calls: float = 0.0
    seconds_by_rank: dict[int, float] = field(default_factory=dict)
    shortest: float = float("inf")
    longest: float = 0.0

    def add(self, rank: int, record: CallRecord) -> None:
        calls = int(record["calls"])
        self.calls_of_ranks += calls
        self.block_bytes_of_calls += calls * float(record["bytes_per_block"])
        self.seconds_by_rank[rank] = self.seconds_by_rank.get(rank, 0.0) + float(record["seconds_total"])
        self.shortest = min(self.shortest, float(record["seconds_min"]))
        self.longest = max(self.longest, float(record["seconds_max"]))

    @property
    def is_native(self) -> bool:
        return self.algorithm == "native"

    @property
    def calls(self) -> float:
        """Number of calls; a call counts once for all members of its communicator."""
        return self.calls_of_ranks / max(self.procs, 1)

    @property
    def bytes_per_block(self) -> float:
        return self.block_bytes_of_calls / max(self.calls_of_ranks, 1)

    @property
    def seconds_mean(self) -> float:
        """In these calls altogether, mean over the ranks."""
        return sum(self.seconds_by_rank.values()) / max(len(self.seconds_by_rank), 1)

    @property
    def seconds_slowest(self) -> float:
        return max(self.seconds_by_rank.values(), default=0.0)

    @property
    def seconds_per_call(self) -> float:
        return sum(self.seconds_by_rank.values()) / max(self.calls_of_ranks, 1)

    def as_json(self) -> Json:
        return {
            "collective": self.collective,
            "algorithm": self.algorithm,
            "reason": self.reason,
            "procs": self.procs,
            "nodes": self.nodes,
            "ranks": len(self.seconds_by_rank),
            "bytes_per_block": self.bytes_per_block,
            "calls": self.calls,
            "seconds_mean": self.seconds_mean,
            "seconds_slowest": self.seconds_slowest,
            "seconds_per_call": self.seconds_per_call,
            "shortest_call": self.shortest,
            "longest_call": self.longest,
        }


@dataclass
class Profiles:
    """All of a run."""

    rows: list[Row] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    ranks: int = 0  # that wrote a profile
    procs: int = 0  # of the program
    unreadable: int = 0
    refusal: str = ""  # the sentence with which Convene ended the program
    unwritable: str = ""  # why no rank could have written one
    libraries: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    phases: list[PhaseRow] = field(default_factory=list)
    background: Background = field(default_factory=Background)

    @property
    def missing(self) -> int:
        return max(self.procs - self.ranks, self.unreadable)

    @property
    def is_all_native(self) -> bool:
        return all(row.is_native for row in self.rows)


Rows = dict[tuple[str | int, ...], Row]


def read(directory: Path) -> Profiles:
    """Reads every profile in the directory. A rank that crashed has written none, or a part of one."""
    profiles = Profiles()
    rows: Rows = {}
    libraries: dict[str, None] = {}
    hosts: dict[str, None] = {}
    messages: dict[str, None] = {}
    declared: dict[tuple[str, str], PhaseRow] = {}
    profiles.unreadable = sum(1 for _ in directory.glob("profile-*.json.part"))
    profiles.refusal = refusal(directory)
    for path in sorted(directory.glob("profile-*.json")):
        try:
            value = jsons.check(jsons.read(path), Profile, str(path))
            collect(value, {})  # once for nothing: a profile counts as a whole or not at all
            phases.collect(value, {}, Background())
            procs, said = int(value["procs"]), [str(sentence) for sentence in value["messages"]]
        except RequestError:
            profiles.unreadable += 1
            continue
        collect(value, rows)
        phases.collect(value, declared, profiles.background)
        profiles.ranks += 1
        profiles.procs = max(profiles.procs, procs)
        libraries[" ".join(str(value.get("library_version", "")).split())] = None
        hosts[str(value.get("host", ""))] = None
        messages.update(dict.fromkeys(said))
    profiles.unwritable = "" if profiles.ranks else folders.why_unwritable(directory)
    profiles.rows = sorted(rows.values(), key=order)
    profiles.phases = [declared[names] for names in sorted(declared)]
    profiles.libraries, profiles.hosts, profiles.messages = list(libraries), list(hosts), list(messages)
    return profiles


def order(row: Row) -> tuple[str, int, float, str]:
    return (row.collective, -row.procs, row.bytes_per_block, row.algorithm)


def refusal(directory: Path) -> str:
    """Why a rank ended the program; nothing if none did. (All ranks that write it write the same.)"""
    for path in sorted(directory.glob("refusal-*.txt")):
        if text := " ".join(path.read_text(encoding="utf-8", errors="replace").split()):
            return text
    return ""


def collect(profile: Profile, rows: Rows) -> None:
    """Adds a rank's records to the rows."""
    rank = int(profile["rank"])
    for communicator, record in records(profile):
        # The mean of the bytes of a class of sizes is in that class again.
        size_class = int(record["bytes_per_block"]).bit_length()
        names = (str(record["collective"]), str(record["algorithm"]), str(record["reason"]))
        shape = (int(communicator["procs"]), int(communicator["nodes"]))
        rows.setdefault((*names, *shape, size_class), Row(*names, *shape)).add(rank, record)


def records(profile: Profile) -> Iterable[tuple[CommunicatorProfile, CallRecord]]:
    for communicator in profile["communicators"]:
        for record in communicator["records"]:
            yield communicator, record
