# SPDX-License-Identifier: BSD-3-Clause
"""The rules file of Open MPI's component `han`: which component serves which topological level.

Source: ompi/mca/coll/han/coll_han_dynamic_file.c. Numbers and names alternate; # begins a comment.
"""

import re
from dataclasses import dataclass

from convene.rules.findings import DROPPED, UNREACHABLE, Report
from convene.rules.openmpi_names import COLLECTIVES

FORMAT = "Open MPI han rules"
MPI = "Open MPI 4.1 and 5.0"
LEVELS = ("in a node", "between nodes", "global")
GLOBAL = 2
COMPONENTS = ("self", "basic", "libnbc", "tuned", "sm", "adapt", "han")
# Collectives that han has an implementation of, in 4.1 and 5.0.
IMPLEMENTED = ("allgather", "allgatherv", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter")
TOKEN = re.compile(r"\[|\]|[^\s#\[\]]+")
WHOLE = re.compile(r"\d{1,18}")


@dataclass(frozen=True)
class Token:
    text: str
    line: int


@dataclass(frozen=True)
class Sized:
    """A component from a size on."""

    size: int
    component: str
    line: int


class FaultError(Exception):
    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


class Reader:
    def __init__(self, text: str) -> None:
        self.tokens = [
            Token(word[0], at)
            for at, line in enumerate(text.split("\n"), start=1)
            for word in TOKEN.finditer(line.partition("#")[0])
        ]
        self.at = 0
        self.last_line = text.rstrip().count("\n") + 1

    def peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next(self, what: str) -> Token:
        found = self.peek()
        if found is None:
            raise FaultError(self.last_line, f"the file ends where {what} should follow")
        self.at += 1
        return found

    def number(self, what: str) -> tuple[int, int]:
        """A number and its line."""
        found = self.next(what)
        if not WHOLE.fullmatch(found.text):
            raise FaultError(found.line, f"{what} should be here, not '{found.text[:40]}'")
        return int(found.text), found.line

    def count(self, what: str) -> int:
        """A number of parts; the file cannot have more than it has words."""
        return min(self.number(what)[0], len(self.tokens) + 1)


def collective_of(token: Token) -> str:
    if token.text in COLLECTIVES:
        return token.text
    if WHOLE.fullmatch(token.text) and int(token.text) < len(COLLECTIVES):
        return COLLECTIVES[int(token.text)]
    raise FaultError(token.line, f"'{token.text[:40]}' is no collective; write its name, as in allgather")


def read_sized(reader: Reader, level: int, report: Report) -> Sized:
    size, line = reader.number("a message size")
    component = reader.next("the name of a component")
    if component.text not in COMPONENTS:
        raise FaultError(
            component.line, f"'{component.text[:40]}' is no component of han ({', '.join(COMPONENTS)})"
        )
    if component.text == "han" and level != GLOBAL:
        report.add(
            component.line,
            DROPPED,
            f"han can serve the global level ({GLOBAL}) only; on level {level} ({LEVELS[level]}) it "
            "is not used",
        )
    after = reader.peek()
    if after and after.text == "[":
        report.notes.append("lists of segment lengths in [ ] are known to newer versions of han only")
        while reader.next("]").text != "]":
            pass
    return Sized(size, component.text, line)


def read_level(reader: Reader, collective: str, report: Report) -> int:
    """The rules of one topological level; returns their number."""
    level, line = reader.number("a topological level")
    if level >= len(LEVELS):
        raise FaultError(
            line, f"topological level {level} does not exist; 0 in a node, 1 between nodes, 2 global"
        )
    done, before = 0, 0
    for at in range(reader.count("the number of configurations")):
        ranks, line = reader.number("a configuration size")
        if ranks < 1 or (at == 0 and ranks > 1):
            raise FaultError(line, f"the first configuration size must be 1, not {ranks}")
        if ranks <= before:
            report.add(line, UNREACHABLE, f"configuration sizes must rise; {ranks} follows {before}")
        before = max(before, ranks)
        sizes: list[Sized] = []
        for _ in range(reader.count("the number of message sizes")):
            rule = read_sized(reader, level, report)
            if not sizes and rule.size > 1:
                raise FaultError(rule.line, f"the first message size must be 0, not {rule.size}")
            if sizes and rule.size <= sizes[-1].size:
                report.add(
                    rule.line,
                    UNREACHABLE,
                    f"message sizes of {collective} must rise; {rule.size} follows {sizes[-1].size}",
                )
            sizes.append(rule)
        done += len(sizes)
    return done


def check(text: str) -> Report:
    report = Report(FORMAT, MPI)
    reader = Reader(text)
    try:
        for _ in range(reader.count("the number of collectives")):
            token = reader.next("a collective")
            collective = collective_of(token)
            if collective not in IMPLEMENTED:
                report.add(token.line, DROPPED, f"han has no {collective}; these rules are not used")
            for _ in range(reader.count("the number of topological levels")):
                report.rules += read_level(reader, collective, report)
    except FaultError as error:
        report.findings.clear()
        report.add(
            error.line,
            DROPPED,
            f"{error}; han then ignores the whole file and uses its MCA parameters",
        )
        return report
    if rest := reader.peek():
        report.add(
            rest.line, DROPPED, "the announced collectives end before this line; the rest is never read"
        )
    report.notes.append(
        "set coll_han_use_dynamic_file_rules true and coll_han_dynamic_rules_filename; "
        "coll_han_dump_dynamic_rules 1 prints what was read"
    )
    return report
