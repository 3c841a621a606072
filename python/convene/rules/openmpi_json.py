# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI 6's JSON of tuned rules. Its reader hides all faults unless coll_base_verbose is set.

Source: ompi/mca/coll/tuned/coll_tuned_dynamic_file.c. It cannot be run here: files are parsed only.
"""

from convene.rules.findings import DROPPED, FAILS, UNKNOWN, UNREACHABLE, Report
from convene.rules.openmpi_names import (
    ALWAYS_ZERO,
    MPIS,
    OPENMPI_6,
    TWO_PROC,
    UNITS,
    algorithms,
    from_json_name,
    json_name,
)
from convene.rules.positions import Node

FORMAT = "Open MPI tuned rules (JSON)"
ROOT = ("rule_file_version", "module", "collectives")
SECTION = ("comm_size_min", "comm_size_max", "comm_rank_distribution", "rules")
RULE = ("msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs")
DISTRIBUTIONS = ("any", "one-per-node", "single-node")
ANYTHING = 1 << 62
NO_MESSAGE = "Open MPI 6 then ignores the whole file without a message"

Range = tuple[int, int]


class DroppedError(Exception):
    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


def check_members(node: Node, known: tuple[str, ...], of: str, report: Report) -> None:
    seen = set()
    for name, value in node.members:
        if name in seen:
            report.add(value.line, UNREACHABLE, f"'{name}' occurs twice in this {of}")
        seen.add(name)
        if name not in known:
            hint = "; it reads seg_size" if name == "segsize" else f"; it reads {', '.join(known)}"
            report.add(value.line, UNKNOWN, f"Open MPI 6 ignores the field '{name[:40]}' of a {of}{hint}")


def number(node: Node, name: str, default: int) -> int:
    """An optional number, or "inf"."""
    found = node.find(name)
    if found is None:
        return default
    if found.kind == "text" and found.value[:3] in ("inf", "Inf", "INF"):
        return ANYTHING
    if found.kind != "number" or not isinstance(found.value, int):
        raise DroppedError(found.line, f"'{name}' must be a whole number or \"inf\"")
    return found.value


def covered(now: Range, before: list[Range]) -> bool:
    """True if the ranges before leave nothing of this one."""
    start, end = now
    for low, high in sorted(before):
        if low <= start <= high:
            start = high + 1
    return start > end


def check_algorithm(collective: str, rule: Node, ranks: Range, report: Report) -> None:
    found = rule.find("alg")
    known = algorithms(OPENMPI_6, collective)
    if found is None:
        raise DroppedError(rule.line, "this rule has no 'alg'")
    name = found.value
    if found.kind == "number" and isinstance(name, int) and 0 <= name < len(known):
        name = known[name]
    if name not in known:
        report.add(
            found.line,
            UNKNOWN,
            f"'{str(name)[:40]}' is no algorithm of {collective} ({', '.join(known)}), so Open MPI 6 "
            "disables the rule",
        )
    elif name == TWO_PROC and (max(ranks[0], 2), ranks[1]) != (2, 2):
        report.add(
            found.line,
            FAILS,
            f"{TWO_PROC} of {collective} fails unless there are exactly 2 ranks; set comm_size_max to 2",
        )


def check_rule(collective: str, rule: Node, ranks: Range, before: list[Range], report: Report) -> None:
    if rule.kind != "object":
        raise DroppedError(rule.line, "a rule must be an object")
    check_members(rule, RULE, "rule", report)
    sizes = number(rule, "msg_size_min", 0), number(rule, "msg_size_max", ANYTHING)
    for name in ("faninout", "seg_size", "reqs"):
        number(rule, name, 0)
    check_algorithm(collective, rule, ranks, report)
    if sizes[0] > sizes[1]:
        report.add(rule.line, UNREACHABLE, f"no size is from {sizes[0]} to {sizes[1]} bytes")
    elif covered(sizes, before):
        report.add(
            rule.line,
            UNREACHABLE,
            "no size reaches this rule: the first that fits wins, and earlier ones fit",
        )
    if sizes[0] > 0 and collective in ALWAYS_ZERO:
        report.add(
            rule.line,
            UNREACHABLE,
            f"the size of every {collective} is 0 to Open MPI; this rule never applies",
        )
    before.append(sizes)


def check_section(collective: str, section: Node, before: list[Range], report: Report) -> None:
    if section.kind != "object":
        raise DroppedError(section.line, "rules of communicators must be an object")
    check_members(section, SECTION, "communicator rule", report)
    ranks = number(section, "comm_size_min", 0), number(section, "comm_size_max", ANYTHING)
    spread = section.find("comm_rank_distribution")
    if spread and spread.kind != "text":
        raise DroppedError(spread.line, "'comm_rank_distribution' must be a text")
    if spread and spread.value not in DISTRIBUTIONS:
        report.add(
            spread.line,
            UNKNOWN,
            f"'{str(spread.value)[:40]}' is no comm_rank_distribution ({', '.join(DISTRIBUTIONS)}), "
            "so it counts as any",
        )
    if ranks[0] > ranks[1]:
        report.add(section.line, UNREACHABLE, f"no communicator has {ranks[0]} to {ranks[1]} ranks")
    elif covered((max(ranks[0], 2), ranks[1]), before):
        report.add(section.line, UNREACHABLE, "no communicator reaches these rules: earlier ones fit first")
    if spread is None or spread.value not in DISTRIBUTIONS[1:]:
        before.append(ranks)
    rules = section.find("rules")
    if rules is None or rules.kind != "list":
        raise DroppedError(section.line, "a communicator rule must have 'rules', a list")
    sizes: list[Range] = []
    for rule in rules.items:
        check_rule(collective, rule, ranks, sizes, report)
        report.rules += 1


def check_root(root: Node, report: Report) -> None:
    check_members(root, ROOT, "rules file", report)
    module = root.find("module")
    if module and module.value != "tuned":
        report.add(
            module.line, UNKNOWN, f"rules of module '{str(module.value)[:40]}' are read as those of tuned"
        )
    collectives = root.find("collectives")
    if collectives is None or collectives.kind != "object":
        raise DroppedError(root.line, "'collectives' must be an object")
    for name, sections in collectives.members:
        collective = from_json_name(name)
        if collective is None:
            hint = f"; write {json_name(name)}" if json_name(name) != name else ""
            raise DroppedError(sections.line, f"'{name[:40]}' is no collective{hint}")
        if sections.kind != "list":
            raise DroppedError(sections.line, f"'{name[:40]}' must be a list")
        if not algorithms(OPENMPI_6, collective):
            report.add(sections.line, DROPPED, f"tuned has no choice of algorithms for {name}")
            continue
        report.notes.append(f"sizes of {name}: {UNITS[collective]}")
        before: list[Range] = []
        for section in sections.items:
            check_section(collective, section, before, report)


def check(root: Node, mpi: str) -> Report:
    report = Report(FORMAT, MPIS[mpi])
    if mpi != OPENMPI_6:
        report.add(1, DROPPED, f"{MPIS[mpi]} does not read JSON, and ignores the file without a message")
        return report
    try:
        check_root(root, report)
    except DroppedError as error:
        report.findings.clear()
        report.add(error.line, DROPPED, f"{error}; {NO_MESSAGE}")
    return report
