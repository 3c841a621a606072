# SPDX-License-Identifier: BSD-3-Clause
"""Recordings: the collectives of a program as its ranks recorded them, on one common time.

A rank's file has its own clock. Ranks that read one clock are known by its number; for others each
communicator says how far the rank's clock is from that of the communicator's rank 0. From these follows the
way from any clock to the first rank's.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convene._core import RequestError
from convene.base import jsons
from convene.trace import files, lines
from convene.trace.lines import Array, Clock, Line
from convene.trace.recording_types import ClockJson, CommunicatorJson, Head, SiteJson

FORMAT = 2
ROW = np.dtype([("arrival", "<i8"), ("exit", "<i8"), ("bytes", "<u8"), ("site", "<u2"), ("algorithm", "<u2")])
NO_ALGORITHM = 0xFFFF
MOST_HEAD = 1 << 28  # bytes
MOST_CALLS = 1 << 40


@dataclass(frozen=True)
class Site:
    """A place of the program that calls a collective."""

    collective: str  # empty: several, beyond the room for sites
    root: int
    blocking: bool
    object: str  # the program or library that it is in
    offset: int  # return address of the call in it; 0: unknown
    symbol: str  # a name near it, as far as the loader knows


@dataclass
class Part:
    """What one rank recorded of one communicator, or of the starts of one persistent operation on it."""

    rank: int  # of the program
    clock: Clock
    first: int  # the number of the first call that is there
    rows: NDArray[Any]
    sites: list[Site]
    algorithms: list[tuple[str, str]]
    line: Line | None  # to the clock of the communicator's rank 0


@dataclass
class Communicator:
    """The calls that all members recorded, on the common time in seconds."""

    members: list[int]  # ranks of the program
    first: int  # the number of the first of these calls on its communicator
    arrivals: Array  # (calls, members)
    exits: Array  # (calls, members); NaN if a rank did not leave
    sizes: NDArray[np.uint64]  # bytes per block of each call, as the first member has it
    sites: list[Site]
    site: NDArray[np.int64]  # of each call, as the first member has it
    algorithms: list[tuple[str, str]]  # name and reason
    algorithm: NDArray[np.int64]  # of each call; -1: unknown
    error: float = 0.0  # seconds within which times of different ranks compare


@dataclass
class Recording:
    """All of a run."""

    communicators: list[Communicator] = field(default_factory=list)
    ranks: int = 0  # that have left a file
    procs: int = 0
    hosts: dict[int, str] = field(default_factory=dict)  # by rank
    programs: list[str] = field(default_factory=list)
    lost: int = 0  # calls that were overwritten, or that not all members recorded
    alone: int = 0  # calls on communicators of a single process
    messages: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return sum(len(each.arrivals) for each in self.communicators)

    @property
    def start(self) -> float:
        """The earliest arrival."""
        return min((float(each.arrivals.min()) for each in self.communicators), default=0.0)

    @property
    def end(self) -> float:
        return max(
            (float(np.nanmax(np.maximum(each.exits, each.arrivals))) for each in self.communicators),
            default=0.0,
        )

    @property
    def error(self) -> float:
        """Seconds within which times of different ranks compare, at worst."""
        return max((each.error for each in self.communicators), default=0.0)


class _BrokenError(Exception):
    """A file that is not, or not all of, a recording."""


Key = tuple[str | int, ...]  # of a communicator or persistent operation
Found = tuple[Key, int, list[int], Part]  # with the rank's place in it, and its members
Groups = dict[Key, list[tuple[int, list[int], Part]]]


def read(directory: Path) -> Recording:
    """Reads the recordings of one run. Raises RequestError if none is usable."""
    if not directory.is_dir():
        raise RequestError(
            f"the directory {directory} does not exist; give the DIRECTORY of convene run --record"
        )
    paths = files.files_in(directory)
    if not paths:
        raise RequestError(
            f"{directory} contains no recording (recording-*.bin): the program made no collective calls, did "
            "not reach MPI_Finalize, or ran without --record"
        )
    recording = Recording()
    groups: Groups = defaultdict(list)
    domains: dict[int, Clock] = {}
    heads: dict[int, Head] = {}
    for path in paths:
        try:
            head, parts = read_file(path)
        except (OSError, RequestError, _BrokenError) as error:
            raise RequestError(
                f"{path} is incomplete, or of another version of Convene ({error}); record the program again"
            ) from None
        rank = int(head["rank"])
        if rank in heads:
            raise RequestError(
                f"{directory} contains several recordings of rank {rank}; use one directory for each run"
            )
        heads[rank], domains[rank] = head, int(head["clock_domain"])
        for key, place, members, part in parts:
            groups[key].append((place, members, part))
    recording.ranks = len(heads)
    recording.procs = max(int(head["procs"]) for head in heads.values())
    recording.hosts = {rank: str(head["host"]) for rank, head in sorted(heads.items())}
    recording.programs = list(dict.fromkeys(str(head["program"]) for head in heads.values()))
    if recording.ranks < recording.procs:
        recording.messages.append(
            f"{recording.procs - recording.ranks} of {recording.procs} ranks wrote no recording: they "
            "failed, made no collective calls, or their node neither shares this file system nor reaches "
            "this machine"
        )
    put_together(recording, groups, domains)
    return recording


def read_file(path: Path) -> tuple[Head, list[Found]]:
    """The head of a file, and of each communicator: its key, this rank's place in it, its members, calls."""
    with path.open("rb") as file:
        line = file.readline(MOST_HEAD)
        if not line.endswith(b"\n"):
            raise _BrokenError("its first line is cut off")
        try:
            head = jsons.check(jsons.parse(line.decode(), "its first line"), Head, "its first line")
        except UnicodeDecodeError:
            raise _BrokenError("its first line is not UTF-8") from None
        if head["convene_recording"] != FORMAT:
            raise _BrokenError(f"its format is {head['convene_recording']}, and this version reads {FORMAT}")
        if not 0 <= head["rank"] < head["procs"]:
            raise _BrokenError(f"its rank {head['rank']} is not one of {head['procs']}")
        if not head["little_endian"]:
            raise _BrokenError("from a big-endian machine")
        parts = []
        unnamed: dict[tuple[int, ...], int] = {}
        for each in head["communicators"]:
            count = int(each["calls"])
            rows = np.fromfile(file, ROW, count) if 0 <= count < MOST_CALLS else np.empty(0, ROW)
            if len(rows) != count:
                raise _BrokenError("it ends too early")
            if fault := fault_of(each, rows, head):
                raise _BrokenError(fault)
            members = each["members"]
            key: Key = (*each["name"], int(each["operation"]))
            if each["name"][0] < 0:  # no agreed name: by members, in order
                unnamed[tuple(members)] = unnamed.get(tuple(members), -1) + 1
                key = ("unnamed", *members, unnamed[tuple(members)])
            part = Part(
                rank=int(head["rank"]),
                clock=int(head["clock_domain"]),
                first=int(each["first"]),
                rows=rows,
                sites=[_site(site, head) for site in each["sites"]],
                algorithms=[(str(name), str(reason)) for name, reason in each["algorithms"]],
                line=_line(each["clock"]),
            )
            parts.append((key, int(each["rank"]), members, part))
    return head, parts


def fault_of(each: CommunicatorJson, rows: NDArray[Any], head: Head) -> str:
    """Where a communicator's members and calls do not fit together; empty where they do."""
    members = each["members"]
    if not each["name"] or len(set(members)) < len(members):
        return "a communicator has no name, or a rank twice"
    if min(members, default=-1) < 0 or max(members) >= head["procs"]:
        return f"a communicator has members that are not ranks of {head['procs']}"
    if not 0 <= each["rank"] < len(members) or members[each["rank"]] != head["rank"]:
        return f"rank {head['rank']} is not the member of its communicator that it should be"
    if not 0 <= each["first"] < MOST_CALLS:
        return f"the first call of a communicator is {each['first']}"
    if len(rows) and int(rows["site"].max()) >= len(each["sites"]):
        return "a call has no call site"
    known = rows["algorithm"][rows["algorithm"] != NO_ALGORITHM]
    if len(known) and int(known.max()) >= len(each["algorithms"]):
        return "a call has no algorithm"
    if len(rows) and int(rows["arrival"].min()) < 0:
        return "a call has no arrival"
    return ""


def _site(site: SiteJson, head: Head) -> Site:
    name = str(site.get("object", ""))
    # The loader knows the program by the name that it was called by.
    own = str(head["program"])
    is_program = name and not name.startswith("/") and Path(name).name == Path(own).name
    return Site(
        collective=str(site["collective"]),
        root=int(site["root"]),
        blocking=bool(site["blocking"]),
        object=own if is_program else name,
        offset=int(site.get("offset", 0)),
        symbol=str(site.get("symbol", "")),
    )


def _line(clock: ClockJson | None) -> Line | None:
    if clock is None:
        return None
    return Line(float(clock["at"]), float(clock["offset"]), float(clock["drift"]), float(clock["error"]))


def put_together(
    recording: Recording,
    groups: Groups,
    domains: dict[int, Clock],
) -> None:
    edges = []
    for found in groups.values():
        for _, members, part in found:
            first = domains.get(members[0])
            if part.line and first is not None and first != part.clock:
                edges.append((part.clock, first, part.line))
    to_base = lines.ways(edges, domains[min(domains)])
    incomplete = apart = overwritten = 0
    for found in groups.values():
        found.sort(key=lambda each: each[0])
        members = found[0][1]
        if len(members) == 1:
            recording.alone += len(found[0][2].rows)
            continue
        parts = [part for _, _, part in found]
        calls = max(part.first + len(part.rows) for part in parts)
        if calls == 0:  # here for its clock alone
            continue
        if len(parts) != len(members) or any(others != members for _, others, _ in found):
            incomplete += 1
            recording.lost += calls
            continue
        if any(part.clock not in to_base for part in parts):
            apart += 1
            recording.lost += calls
            continue
        made = merge(members, parts, to_base)
        if made is None:
            incomplete += 1
            recording.lost += calls
            continue
        overwritten += calls - len(made.arrivals)
        if len(made.arrivals):
            recording.communicators.append(made)
    recording.lost += overwritten
    recording.communicators.sort(key=lambda each: float(each.arrivals.min()))
    if incomplete:
        recording.messages.append(
            f"{incomplete} communicators or persistent operations are left out because not all of their "
            "members recorded the same calls"
        )
    if apart:
        recording.messages.append(
            f"{apart} communicators or persistent operations are left out because the clocks of their "
            "members were not synchronised"
        )
    if overwritten:
        recording.messages.append(
            f"{overwritten} calls are lost: a recording keeps the latest calls of each communicator and "
            "persistent operation (increase CONVENE_RECORD_CALLS)"
        )


def merge(members: list[int], parts: list[Part], to_base: dict[Clock, list[Line]]) -> Communicator | None:
    """The calls that all members still have; nothing where they recorded different collectives."""
    first = max(part.first for part in parts)
    last = min(part.first + len(part.rows) for part in parts)
    rows = [part.rows[first - part.first : max(last, first) - part.first] for part in parts]
    kinds = []
    for part, mine in zip(parts, rows, strict=True):
        names = np.array([site.collective for site in part.sites] or [""])
        kinds.append(names[mine["site"]] if len(mine) else names[:0])
    if any((kind != kinds[0]).any() for kind in kinds):
        return None
    errors = [sum(line.error for line in to_base[part.clock]) for part in parts]
    algorithm = rows[0]["algorithm"].astype(np.int64)
    return Communicator(
        members=members,
        first=first,
        arrivals=_times(rows, parts, to_base, "arrival"),
        exits=_times(rows, parts, to_base, "exit"),
        sizes=rows[0]["bytes"].astype(np.uint64),
        sites=parts[0].sites,
        site=rows[0]["site"].astype(np.int64),
        algorithms=parts[0].algorithms,
        algorithm=np.where(algorithm == NO_ALGORITHM, -1, algorithm),
        error=(max(errors) + sorted(errors)[-2]) * 1e-9,
    )


def _times(rows: list[NDArray[Any]], parts: list[Part], to_base: dict[Clock, list[Line]], name: str) -> Array:
    columns = []
    for part, mine in zip(parts, rows, strict=True):
        times = mine[name].astype(np.float64)
        for line in to_base[part.clock]:
            times = line.apply(times)
        columns.append(np.where(mine[name] < 0, np.nan, times * 1e-9))
    return np.column_stack(columns)
