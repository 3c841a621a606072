# SPDX-License-Identifier: BSD-3-Clause
"""UCC's variable UCC_TL_UCP_TUNE, in the environment or ucc.conf: allgather:0-4k:host:[2-64]:inf:@bruck#…

Source: src/coll_score/ucc_coll_score.c and src/components/tl/ucp. Files are parsed only; nothing is run.
"""

import re
from dataclasses import dataclass, field

from convene.rules.findings import DROPPED, FAILS, REACH, UNKNOWN, Report
from convene.rules.variables import Variable, variables

FORMAT = "UCC tuning"
MPI = "UCC 1"
NAMES = re.compile(r"UCC_(TL|CL)_[A-Z]+_(TUNE|SCORE)")
ALGORITHMS = {
    "allgather": ("knomial", "ring", "neighbor", "bruck", "sparbit"),
    "allgatherv": ("knomial", "ring"),
    "allreduce": ("knomial", "sra_knomial", "dbt", "sliding_window"),
    "alltoall": ("pairwise", "bruck", "onesided"),
    "alltoallv": ("pairwise", "hybrid", "onesided"),
    "barrier": ("knomial",),
    "bcast": ("knomial", "sag_knomial", "dbt"),
    "fanin": ("knomial",),
    "fanout": ("knomial",),
    "gather": ("knomial",),
    "gatherv": ("linear",),
    "reduce": ("knomial", "dbt", "srg"),
    "reduce_scatter": ("ring", "knomial"),
    "reduce_scatterv": ("ring",),
    "scatter": ("knomial",),
    "scatterv": ("linear",),
}
MEMORY = ("host", "cuda", "cuda_managed", "rocm", "rocm_managed")
SIZE = re.compile(r"(?:(\d{1,15})([kmgt]?)b?|inf)", re.IGNORECASE)
TEAM = re.compile(r"\[(\d{1,9})-(\d{1,9}|inf)\]")
ANYTHING = 1 << 62
WHOLE = "UCC then rejects the whole value"


@dataclass
class Part:
    """The tokens of one part, by kind."""

    collectives: list[str] = field(default_factory=list)
    memory: list[str] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    team: tuple[int, int] | None = None
    score: str = ""
    algorithm: str = ""


class RejectedError(Exception):
    pass


def size_of(text: str) -> int | None:
    found = SIZE.fullmatch(text.strip())
    if not found:
        return None
    return int(found[1]) << (10 * " kmgt".index(found[2].lower() or " ")) if found[1] else ANYTHING


def ranges_of(token: str) -> list[tuple[int, int]] | None:
    found = []
    for text in token.split(","):
        ends = [size_of(each) for each in text.split("-")]
        if len(ends) != 2 or ends[0] is None or ends[1] is None:
            return None
        found.append((ends[0], ends[1]))
    return found


def read_token(token: str, part: Part) -> None:
    """UCC tries one kind after the other; each may occur once."""
    words = [word.lower() for word in token.split(",")]
    team = TEAM.fullmatch(token)
    sizes = ranges_of(token)
    if not part.collectives and all(word in ALGORITHMS for word in words):
        part.collectives = words
    elif not part.memory and all(word in MEMORY for word in words):
        part.memory = words
    elif not part.score and (token == "inf" or (token.isascii() and token.isdigit())):
        part.score = token
    elif not part.algorithm and token.startswith("@") and len(token) > 1:
        part.algorithm = token[1:]
    elif part.team is None and team:
        part.team = int(team[1]), ANYTHING if team[2] == "inf" else int(team[2])
    elif not part.ranges and sizes:
        part.ranges = sizes
    elif token == "cpu":
        raise RejectedError("the memory type is host, not cpu")
    else:
        raise RejectedError(
            f"'{token[:40]}' is no collective, memory type, score, algorithm, [team] or size range"
        )


def read_part(text: str, found: Variable, report: Report) -> Part:
    part = Part()
    for token in text.split(":"):
        read_token(token.strip(), part)
    for low, high in part.ranges:
        if low >= high:
            raise RejectedError(f"the size range from {low} to {high} is empty (its end is not included)")
    if part.algorithm and not part.collectives:
        raise RejectedError(f"@{part.algorithm[:30]} has no collective")
    for collective in part.collectives if part.algorithm else ():
        known = ALGORITHMS[collective]
        number = part.algorithm.isascii() and part.algorithm.isdigit()
        if (int(part.algorithm[:9]) >= len(known)) if number else part.algorithm.lower() not in known:
            report.add(
                found.line,
                UNKNOWN,
                f"'@{part.algorithm[:30]}' is no algorithm of {collective} ({', '.join(known)}); {WHOLE}",
            )
        elif number:
            report.add(
                found.line,
                REACH,
                f"@{part.algorithm} of {collective} is a number, which differs by version; write a name",
            )
    if not part.score and not part.algorithm:
        report.add(
            found.line, DROPPED, f"'{text[:40]}' has neither a score nor an algorithm, so it has no effect"
        )
    if part.score == "0":
        report.add(found.line, DROPPED, f"the score 0 of '{text[:40]}' switches this range off")
    if part.algorithm and not part.memory:
        report.add(
            found.line,
            REACH,
            f"'{text[:40]}' names no memory type, so it applies to GPU memory, too; add host",
        )
    return part


def clash(left: Part, right: Part) -> bool:
    """True if two parts give ranges that overlap."""
    everything = [(0, ANYTHING)]
    teams = [each.team or (0, ANYTHING) for each in (left, right)]
    return (
        bool(set(left.collectives or ALGORITHMS) & set(right.collectives or ALGORITHMS))
        and bool(set(left.memory or MEMORY) & set(right.memory or MEMORY))
        and teams[0][0] <= teams[1][1]
        and teams[1][0] <= teams[0][1]
        and any(a < d and c < b for a, b in left.ranges or everything for c, d in right.ranges or everything)
    )


def check_variable(found: Variable, report: Report) -> None:
    before: list[Part] = []
    for text in found.value.split("#"):
        try:
            part = read_part(text, found, report)
        except RejectedError as error:
            report.add(found.line, DROPPED, f"{found.name}: {error}; {WHOLE}")
            return
        if any(clash(part, other) for other in before):
            report.add(found.line, FAILS, f"{found.name}: '{text[:40]}' overlaps an earlier part; {WHOLE}")
        before.append(part)
        report.rules += 1


def check(text: str) -> Report:
    report = Report(FORMAT, MPI)
    for found in variables(text):
        if NAMES.fullmatch(found.name):
            check_variable(found, report)
    report.notes.append(
        "sizes are totals over all ranks (allgather: block * ranks); UCC_COLL_TRACE=info shows what runs"
    )
    return report
