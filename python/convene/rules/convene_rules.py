# SPDX-License-Identifier: BSD-3-Clause
"""Convene's own rules: read by the library's reader; rules that no call reaches are found here."""

from dataclasses import dataclass

from convene import _core
from convene.base import core_types
from convene.catalogue import collectives
from convene.rules.findings import UNREACHABLE, Report
from convene.rules.positions import Node

FORMAT = "Convene rules"
CONDITIONS = ("procs", "bytes", "nodes", "ranks_per_node")
ANYTHING = 2**64 - 1
Range = tuple[int, int]


@dataclass(frozen=True)
class Rule:
    number: int
    line: int
    collective: str
    use: str
    ranges: dict[str, Range]

    def covers(self, other: "Rule") -> bool:
        """True if this rule fits each call that the other one fits."""
        pairs = [(self.ranges[name], other.ranges[name]) for name in CONDITIONS]
        return self.collective == other.collective and all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairs)

    def misses(self, values: dict[str, int]) -> str:
        """The condition that a call does not meet, with its value; empty if it meets all."""
        for name in CONDITIONS:
            low, high = self.ranges[name]
            if not low <= values[name] <= high:
                return f"{name} is {values[name]}, the rule has {range_text((low, high))}"
        return ""


def range_text(span: Range) -> str:
    low, high = span
    if high == ANYTHING:
        return f"{low} or more"
    return str(low) if low == high else f"{low} to {high}"


def plain(node: Node) -> int:
    return int(node.value) if node.kind == "number" else _core.size(node.value)


def range_of(item: Node, name: str) -> Range:
    found = item.find(name)
    if found is None:
        return (0, ANYTHING)
    if found.kind == "list":
        return plain(found.items[0]), plain(found.items[1])
    if found.kind != "object":
        return plain(found), plain(found)
    low, high = found.find("min"), found.find("max")
    least = 0 if name == "bytes" else 1  # an unknown number of nodes is 0, and meets no condition on nodes
    return (plain(low) if low else least, plain(high) if high else ANYTHING)


def rules_of(root: Node) -> list[Rule]:
    """The rules of a file that the library's reader has accepted."""
    items = root.find("rules")
    made = []
    for number, item in enumerate(items.items if items else [], start=1):
        collective, use = item.find("collective"), item.find("use")
        assert collective is not None
        assert use is not None
        ranges = {name: range_of(item, name) for name in CONDITIONS}
        name = collectives.check_collective(str(collective.value))
        made.append(Rule(number, item.line, name, str(use.value), ranges))
    return made


def always_runs(rule: Rule) -> bool:
    """True if the algorithm has no requirement that some calls of the rule do not meet."""
    known: dict[str, core_types.Algorithm] = {
        each["name"]: each for each in _core.algorithms(rule.collective)
    }
    found = known.get(rule.use.partition(";")[0].partition("(")[0])
    return rule.use == "native" or (
        found is not None
        and found["requirement"] == "none"
        and not found["shares_memory"]
        and not found["parts"]
    )


def check(root: Node, origin: str) -> Report:
    """Raises RequestError if the library's reader refuses the file."""
    _core.rules(origin)
    report = Report(FORMAT, "Convene")
    rules = rules_of(root)
    report.rules = len(rules)
    for at, rule in enumerate(rules):
        for before in rules[:at]:
            if before.covers(rule) and always_runs(before):
                report.add(
                    rule.line,
                    UNREACHABLE,
                    f"no call reaches rule {rule.number}: rule {before.number} (line {before.line}) "
                    "fits all its calls",
                )
                break
    return report
