# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's classic file of tuned rules, read as its reader does: numbers in a row, everything else skipped.

Source: ompi/mca/coll/tuned/coll_tuned_dynamic_file.c and coll_base_util.c. The reader takes numbers with C's
%li (010 is octal), skips letters (4KiB is 4), and ignores the whole file at the first fault.
"""

import re
from dataclasses import dataclass, field
from itertools import zip_longest

from convene.rules.findings import DROPPED, FAILS, REACH, UNIT, UNREACHABLE, Report
from convene.rules.openmpi_names import (
    ALWAYS_ZERO,
    COLLECTIVES,
    MOST_OF_TYPE,
    MPIS,
    OPENMPI_4,
    OPENMPI_6,
    TWO_PROC,
    UNITS,
    algorithms,
)

FORMAT = "Open MPI tuned rules (classic format)"
VERSION = re.compile(r"\s*rule-file-version-(\d+)")
NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)")
WORD = re.compile(r"[^\s#]+")
MOST_LONG = 2**63 - 1
NO_MESSAGE = "Open MPI then ignores the whole file without a message"


@dataclass(frozen=True)
class Number:
    value: int
    line: int
    word: str  # that it stands in: "4KiB"


@dataclass(frozen=True)
class Rule:
    size: int
    algorithm: int
    line: int


@dataclass
class Section:
    """The rules of communicators from a number of ranks on."""

    ranks: int
    line: int
    rules: list[Rule] = field(default_factory=list)


@dataclass
class Collective:
    number: int
    line: int
    sections: list[Section] = field(default_factory=list)

    @property
    def name(self) -> str:
        return COLLECTIVES[self.number]


def value_of(text: str) -> int:
    """As C's %li: 0x10 is hexadecimal, 010 is octal; a number that is too large becomes the largest."""
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    if digits[:2].lower() == "0x":
        number = int(digits[2:], 16)
    elif digits[0] == "0":
        octal = re.match("[0-7]+", digits)
        number = int(octal[0], 8) if octal else 0
    else:
        number = int(digits[:20])
    return sign * min(number, MOST_LONG)


def numbers_of(text: str) -> list[Number]:
    found = []
    for at, line in enumerate(text.split("\n"), start=1):
        plain = line.partition("#")[0]
        for word in WORD.finditer(plain):
            found += [Number(value_of(each[0]), at, word[0]) for each in NUMBER.finditer(word[0])]
    return found


class DroppedError(Exception):
    """The reader gives up, at this line."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


class Reader:
    """Numbers in a row. Negative ones and the end of the file are faults."""

    def __init__(self, numbers: list[Number], last_line: int) -> None:
        self.numbers, self.at, self.last_line = numbers, 0, last_line

    def peek(self) -> Number | None:
        return self.numbers[self.at] if self.at < len(self.numbers) else None

    def next(self, what: str) -> Number:
        found = self.peek()
        if found is None:
            raise DroppedError(self.last_line, f"the file ends where {what} should follow")
        if found.value < 0:
            raise DroppedError(found.line, f"{what} is {found.value}, which is negative")
        self.at += 1
        return found


def read_rule(reader: Reader, version: int, report: Report) -> Rule:
    size = reader.next("the size of a rule")
    given = [size, *(reader.next(f"the {what} of a rule") for what in ("algorithm", "fan-in/out", "segment"))]
    after = reader.peek()
    if version > 1 and after and after.line == given[-1].line:
        given.append(reader.next("the number of requests"))
    if given[1].line == size.line != given[3].line:
        report.add(
            size.line,
            DROPPED,
            "this rule has fewer than four numbers (size, algorithm, fan-in/out, segment), so the "
            "next line's "
            f"first number, {given[3].value}, is taken as its segment",
        )
    return Rule(size.value, given[1].value, size.line)


def read_section(reader: Reader, version: int, report: Report) -> Section:
    ranks = reader.next("a number of ranks")
    section = Section(ranks.value, ranks.line)
    count = reader.next("the number of rules of a section")
    for _ in range(min(count.value, len(reader.numbers) + 1)):
        rule = read_rule(reader, version, report)
        if not section.rules and rule.size:
            raise DroppedError(
                rule.line, f"the first rule of a section must be for size 0, and this one is for {rule.size}"
            )
        section.rules.append(rule)
    return section


def read(text: str, report: Report, mpi: str) -> list[Collective]:
    """Raises DroppedError."""
    given = VERSION.match(text)
    version = int(given[1][:9]) if given and mpi != OPENMPI_4 else 1
    if given and mpi == OPENMPI_4:
        raise DroppedError(1, "this version of Open MPI does not know the line rule-file-version")
    if given:
        report.notes.append("rule-file-version-2 is read from Open MPI 5.0.7 on; earlier ones drop the file")
        text = " " * given.end() + text[given.end() :]
    reader = Reader(numbers_of(text), text.rstrip().count("\n") + 1)
    collectives: list[Collective] = []
    count = reader.next("the number of collectives")
    if count.value > len(COLLECTIVES):
        raise DroppedError(count.line, f"there are not {count.value} collectives")
    for _ in range(count.value):
        number = reader.next("the number of a collective")
        if number.value >= len(COLLECTIVES):
            raise DroppedError(number.line, f"collective {number.value} does not exist")
        made = Collective(number.value, number.line)
        sections = reader.next("the number of communicator sizes")
        for _ in range(min(sections.value, len(reader.numbers) + 1)):
            made.sections.append(read_section(reader, version, report))
        collectives.append(made)
    if rest := reader.peek():
        report.add(
            rest.line, DROPPED, "the announced collectives end before this line; the rest is never read"
        )
    report_words(reader.numbers[: reader.at], report)
    return collectives


def report_words(numbers: list[Number], report: Report) -> None:
    """Words that are more than a plain number."""
    for each in numbers:
        if each.word.isdigit() and (each.word == "0" or each.word[0] != "0"):
            continue
        report.add(each.line, UNIT, f"'{each.word}' is read as {each.value}; write plain decimal bytes")


def check(text: str, mpi: str) -> Report:
    report = Report(FORMAT, MPIS[mpi])
    try:
        collectives = read(text, report, mpi)
    except DroppedError as error:
        report.findings.clear()
        report.add(error.line, DROPPED, f"{error}; {NO_MESSAGE}")
        return report
    if mpi == OPENMPI_6:
        report.add(
            1,
            REACH,
            "Open MPI 6 converts this format so that a section ends one rank below its own number of "
            "ranks; use "
            "its JSON (convene rules export --to openmpi-6)",
        )
    seen: dict[str, int] = {}
    for each in collectives:
        if each.name in seen:
            report.add(
                seen[each.name], DROPPED, f"a second table of {each.name} in line {each.line} replaces this"
            )
        seen[each.name] = each.line
        check_collective(each, mpi, report)
    report.rules = sum(len(section.rules) for each in collectives for section in each.sections)
    return report


def check_collective(found: Collective, mpi: str, report: Report) -> None:
    if not algorithms(mpi, found.name):
        report.add(
            found.line, DROPPED, f"tuned has no choice of algorithms for {found.name}; its rules are ignored"
        )
        return
    report.notes.append(f"sizes of {found.name}: {UNITS[found.name]}")
    if not found.sections:
        report.add(found.line, DROPPED, f"{found.name} has no section, so its table has no effect")
    first = True
    highest = 0
    for section, after in zip_longest(found.sections, found.sections[1:]):
        highest = max(highest, section.ranks)
        end = after.ranks - 1 if after else None
        start = 2 if first else highest
        if end is not None and end < start:
            if not (first and end < 2):
                report.add(
                    section.line,
                    UNREACHABLE,
                    f"no communicator uses the section for {section.ranks} ranks, since the next one is for "
                    f"{end + 1}; sort sections by rising numbers of ranks",
                )
        else:
            if first and section.ranks > 2 and any(rule.algorithm for rule in section.rules):
                report.add(
                    section.line,
                    REACH,
                    f"the first section, for {section.ranks} ranks, also serves all smaller "
                    "communicators; begin "
                    f"with a section for 0 ranks with algorithm 0",
                )
            check_rules(found.name, section, (start, end), mpi, report)
        first = False
    last = found.sections[-1] if found.sections else None
    if last and last.ranks > 2 and any(rule.algorithm for rule in last.rules):
        report.add(
            last.line,
            REACH,
            f"the last section of {found.name}, for {last.ranks} ranks, also serves all larger "
            "communicators; end "
            f"with a section for {last.ranks + 1} ranks with algorithm 0",
        )


def served(ranks: tuple[int, int | None]) -> str:
    start, end = ranks
    return (
        f"{start} ranks" if start == end else f"{start} to {end} ranks" if end else f"{start} and more ranks"
    )


def check_rules(
    collective: str, section: Section, ranks: tuple[int, int | None], mpi: str, report: Report
) -> None:
    if not section.rules:
        report.notes.append(f"{collective} for {served(ranks)}: no rules, native algorithms")
    known = algorithms(mpi, collective)
    highest = -1
    for rule, after in zip_longest(section.rules, section.rules[1:]):
        highest = max(highest, rule.size)
        if after and after.size <= highest:
            report.add(
                rule.line,
                UNREACHABLE,
                f"no size reaches this rule of {collective}: the next one is for {after.size} bytes; "
                "sort rules by "
                "rising sizes",
            )
        elif highest > rule.size:
            report.add(rule.line, REACH, f"this rule applies from {highest} bytes on, not from {rule.size}")
        if rule.algorithm >= len(known):
            report.add(
                rule.line,
                FAILS,
                f"{MPIS[mpi]} has no algorithm {rule.algorithm} of {collective} (0 to "
                f"{len(known) - 1}); each call "
                "that uses this rule fails",
            )
        elif known[rule.algorithm] == TWO_PROC and ranks != (2, 2):
            report.add(
                rule.line,
                FAILS,
                f"{collective} algorithm {rule.algorithm} ({TWO_PROC}) fails unless there are exactly "
                "2 ranks; this "
                f"section serves {served(ranks)}",
            )
        check_unit(collective, rule, ranks, report)


def check_unit(collective: str, rule: Rule, ranks: tuple[int, int | None], report: Report) -> None:
    if rule.size and collective in ALWAYS_ZERO:
        report.add(
            rule.line,
            UNREACHABLE,
            f"the size of every {collective} is 0 to Open MPI, so the rule for {rule.size} bytes "
            "never applies",
        )
    elif collective in ("scan", "exscan") and ranks[1] and rule.size > MOST_OF_TYPE * ranks[1]:
        report.add(
            rule.line,
            UNIT,
            f"the size of {collective} is that of the datatype * ranks; the count is ignored, so "
            f"{rule.size} bytes at "
            f"{served(ranks)} is never reached with MPI's basic datatypes",
        )
