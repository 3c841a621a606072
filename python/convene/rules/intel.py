# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI's variables I_MPI_ADJUST_COLLECTIVE="preset:from-to@ranks;…".

The ranges of presets are what `impi_info -v` prints for 2021.18. Files are parsed only; nothing is run.
"""

import re

from convene.rules.findings import DROPPED, UNKNOWN, UNREACHABLE, Report
from convene.rules.variables import Variable, variables

FORMAT = "Intel MPI variables"
MPI = "Intel MPI 2021"
PREFIX = "I_MPI_ADJUST_"
IGNORED = "Intel MPI ignores it, prints that with I_MPI_DEBUG=5 only, and uses its own choice"
HIGHEST = {
    "ALLGATHER": 6,
    "ALLGATHERV": 5,
    "ALLREDUCE": 32,
    "ALLTOALL": 18,
    "ALLTOALLV": 9,
    "ALLTOALLW": 6,
    "BARRIER": 11,
    "BCAST": 22,
    "EXSCAN": 3,
    "GATHER": 5,
    "GATHERV": 4,
    "REDUCE": 19,
    "REDUCE_SCATTER": 6,
    "REDUCE_SCATTER_BLOCK": 4,
    "SCAN": 3,
    "SCATTER": 5,
    "SCATTERV": 4,
    "IALLGATHER": 5,
    "IALLGATHERV": 5,
    "IALLREDUCE": 18,
    "IALLTOALL": 7,
    "IALLTOALLV": 6,
    "IALLTOALLW": 1,
    "IBARRIER": 2,
    "IBCAST": 5,
    "IEXSCAN": 1,
    "IGATHER": 2,
    "IGATHERV": 3,
    "IREDUCE": 4,
    "IREDUCE_SCATTER": 3,
    "IREDUCE_SCATTER_BLOCK": 3,
    "ISCAN": 1,
    "ISCATTER": 2,
    "ISCATTERV": 1,
}
OTHERS = (
    "FAILURE_ON_COLL_FALLBACK",
    "FAILURE_ON_MATCH_FALLBACK",
    "SENDRECV_REPLACE",
    "SENDRECV_REPLACE_FRAME_SIZE",
)
PART = re.compile(r"(\d{1,9})(?::(.+))?")
CONDITION = re.compile(r"(\d{1,18})-(\d{1,18}|max)(?:@(\d{1,18})-(\d{1,18}|max))?", re.IGNORECASE)
ANYTHING = 1 << 62
Box = tuple[int, int, int, int]  # bytes from and to, ranks from and to


def end(text: str | None) -> int:
    return ANYTHING if text is None or text.lower() == "max" else int(text)


def within(inner: Box, outer: Box) -> bool:
    return all(inner[at] >= outer[at] and inner[at + 1] <= outer[at + 1] for at in (0, 2))


def overlaps(left: Box, right: Box) -> bool:
    return all(left[at] <= right[at + 1] and right[at] <= left[at + 1] for at in (0, 2))


def boxes_of(conditions: str, found: Variable, report: Report) -> list[Box]:
    boxes = []
    for text in re.split("[,;]", conditions):
        known = CONDITION.fullmatch(text.strip())
        if not known:
            report.add(
                found.line,
                DROPPED,
                f"{found.name}: '{text.strip()[:40]}' is no range (as in 0-64 or 65-4096@2-8, plain bytes); "
                + IGNORED,
            )
            continue
        box = int(known[1]), end(known[2]), int(known[3] or 0), end(known[4])
        if box[0] > box[1] or box[2] > box[3]:
            report.add(found.line, UNREACHABLE, f"{found.name}: the range {text.strip()} is empty")
            continue
        boxes.append(box)
    return boxes


def check_variable(found: Variable, report: Report) -> None:
    name = found.name.removeprefix(PREFIX)
    if name in OTHERS or name.endswith("_LIST"):
        return
    if name not in HIGHEST:
        report.add(found.line, UNKNOWN, f"Intel MPI has no variable {found.name[:60]}, and ignores it")
        return
    before: list[Box] = []
    for part in found.value.split(";"):
        known = PART.fullmatch(part.strip())
        if not known:
            report.add(
                found.line,
                DROPPED,
                f"{found.name}: '{part.strip()[:40]}' is no preset (as in 3 or 3:0-64@2-8); " + IGNORED,
            )
            continue
        if int(known[1]) > HIGHEST[name]:
            report.add(
                found.line,
                UNKNOWN,
                f"{found.name}: preset {known[1]} does not exist (2021.18 has 0 to {HIGHEST[name]})",
            )
        report.rules += 1
        for box in boxes_of(known[2], found, report) if known[2] else [(0, ANYTHING, 0, ANYTHING)]:
            if any(within(box, other) for other in before):
                report.add(
                    found.line, UNREACHABLE, f"{found.name}: earlier ranges cover {part.strip()[:40]} wholly"
                )
            elif any(overlaps(box, other) for other in before):
                report.add(
                    found.line,
                    UNREACHABLE,
                    f"{found.name}: earlier ranges cover a part of {part.strip()[:40]}",
                )
            before.append(box)


def check(text: str) -> Report:
    report = Report(FORMAT, MPI)
    seen: dict[str, int] = {}
    for found in variables(text):
        if found.name.startswith(PREFIX):
            if found.name in seen:
                report.add(seen[found.name], UNREACHABLE, f"{found.name} is set again in line {found.line}")
            seen[found.name] = found.line
            check_variable(found, report)
    report.notes.append("impi_info -v I_MPI_ADJUST_COLLECTIVE prints the presets of the installed version")
    return report
