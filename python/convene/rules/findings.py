# SPDX-License-Identifier: BSD-3-Clause
"""Findings: what an MPI does with a rules file that its author did not mean."""

from dataclasses import dataclass, field

# Kinds of findings, as the documentation names them.
DROPPED = "dropped"  # the MPI ignores the file, or a part of it, without a message
UNIT = "unit"  # a number means something else
UNREACHABLE = "unreachable"  # no call gets there
UNKNOWN = "unknown"  # an algorithm, collective or field that the MPI does not have
FAILS = "fails"  # MPI_Init or a collective call fails
REACH = "reach"  # it applies to more calls than it names
KINDS = (DROPPED, UNIT, UNREACHABLE, UNKNOWN, FAILS, REACH)


@dataclass(frozen=True, order=True)
class Finding:
    line: int
    kind: str
    text: str


@dataclass
class Report:
    """What was found in one file, for one MPI."""

    format: str  # as people call it: "Open MPI tuned rules (classic format)"
    mpi: str  # whose reading was checked: "Open MPI 4.1"
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # facts to know; they are no fault
    rules: int = 0  # that the MPI reads

    def add(self, line: int, kind: str, text: str) -> None:
        found = Finding(line, kind, text)
        if found not in self.findings:
            self.findings.append(found)
