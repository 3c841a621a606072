# SPDX-License-Identifier: BSD-3-Clause
"""Choices of native algorithms, from wisdom, and what cannot be exported, with the reason."""

from dataclasses import dataclass

from convene._core import RequestError
from convene.tune.wisdom_files import NO_LIMIT, Entry

MOST_OF_NATIVE = 0.97  # as in src/decide/wisdom.hpp: what gains less is not used
COMPONENT = "coll:"  # names a component of Open MPI instead of an algorithm: coll:han
UCC = "ucc:"


def span_text(least: int, most: int) -> str:
    """Sizes with both ends, where they have a largest one."""
    if most >= NO_LIMIT:
        return f"from {least} bytes on" if least else "any size"
    return f"{least} to {most} bytes"


@dataclass(frozen=True)
class Choice:
    """An algorithm for some sizes of a block, both ends included."""

    collective: str
    procs: int
    least: int
    most: int
    algorithm: str

    def __str__(self) -> str:
        span = span_text(self.least, self.most)
        return f"{self.collective} of {self.procs} ranks, {span}, {self.algorithm}"


@dataclass(frozen=True)
class Left:
    """What is not exported."""

    what: str
    reason: str


@dataclass
class Chosen:
    choices: list[Choice]
    left: list[Left]
    mpi: str  # name and version of the MPI whose wisdom it is


def label(entry: Entry) -> str:
    least, most = entry["bytes"]
    name = entry.get("native_algorithm") or entry["use"]
    return f"{entry['collective']} of {entry['procs']} ranks, {span_text(least, most)}, {name}"


def mpi_of(entries: list[Entry], prefixes: tuple[str, ...], wanted: str | None) -> str:
    """The MPI whose entries are exported."""
    fitting = [each["mpi"] for each in entries if each["mpi"].startswith(prefixes)]
    names = sorted(set(fitting))
    if wanted is not None:
        if wanted not in names:
            raise RequestError(
                f"no wisdom for '{wanted}' that fits; there is wisdom for: {', '.join(names) or 'none'}"
            )
        return wanted
    if len(names) > 1:
        raise RequestError(f"there is wisdom for {' and '.join(names)}; choose one with --mpi")
    if not names:
        mpis = " or ".join(each.rstrip(". ") or "any MPI" for each in prefixes)
        others = ", ".join(sorted({each["mpi"] for each in entries}))
        raise RequestError(f"no wisdom for {mpis}; there is wisdom for: {others or 'none'}")
    return names[0]


def layout(entry: Entry) -> tuple[str, int, int, bool]:
    return entry["cpu"], entry["nodes"], entry["ranks_per_node"], entry["shares_cores"]


def without_overlaps(entries: list[Entry]) -> tuple[list[Entry], list[Left]]:
    """Of entries that overlap, the newest; of equally new ones that with the lowest upper end."""
    ordered = sorted(entries, key=lambda each: each["upper"])
    ordered.sort(key=lambda each: each["measured"][:10], reverse=True)
    kept: list[Entry] = []
    left: list[Left] = []
    for entry in ordered:
        low, high = entry["bytes"]
        if any(low <= other["bytes"][1] and other["bytes"][0] <= high for other in kept):
            left.append(Left(label(entry), "a newer or better entry covers a part of its sizes"))
        else:
            kept.append(entry)
    return kept, left


def choose(entries: list[Entry], prefixes: tuple[str, ...], mpi: str | None, nodes: int | None) -> Chosen:
    """The choices for an MPI, sorted. Raises RequestError if they are of several MPIs."""
    name = mpi_of(entries, prefixes, mpi)
    cases: dict[tuple[str, int], list[Entry]] = {}
    left = []
    for entry in entries:
        if entry["mpi"] != name or nodes not in (None, entry["nodes"]):
            continue
        if entry["upper"] > MOST_OF_NATIVE:
            left.append(Left(label(entry), f"its upper end, {entry['upper']:.2f}, is above {MOST_OF_NATIVE}"))
        elif entry.get("native_algorithm"):
            cases.setdefault((entry["collective"], entry["procs"]), []).append(entry)
        elif entry["use"] != "native":
            left.append(Left(label(entry), "an algorithm of Convene: it needs the preloaded library"))
    choices = []
    for case in cases.values():
        if len({layout(each) for each in case}) > 1:
            why = (
                "measured on several processors, nodes or ranks per node, which these rules cannot tell apart"
            )
            left += [Left(label(each), why) for each in case]
            continue
        kept, covered = without_overlaps(case)
        left += covered
        for each in kept:
            least, most = each["bytes"]
            algorithm = str(each.get("native_algorithm"))
            choices.append(Choice(each["collective"], each["procs"], least, most, algorithm))
    choices.sort(key=lambda each: (each.collective, each.procs, each.least))
    return Chosen(choices, left, name)


def by_case(choices: list[Choice]) -> dict[str, dict[int, list[Choice]]]:
    """Choices by collective, then by number of ranks."""
    found: dict[str, dict[int, list[Choice]]] = {}
    for each in choices:
        found.setdefault(each.collective, {}).setdefault(each.procs, []).append(each)
    return found
