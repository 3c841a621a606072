# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's JSON selection tree (CSEL): conditions on the call lead to an algorithm.

Source: src/mpi/coll/src/csel.c. The file replaces the library's whole tree, and faults end in an assertion.
"""

import re
from dataclasses import dataclass, replace

from convene.rules.findings import FAILS, UNIT, UNREACHABLE, Report
from convene.rules.positions import Node

FORMAT = "MPICH selection tree"
MPI = "MPICH 4 and 5"
BLOCKING = (
    *(
        "allgather",
        "allgatherv",
        "allreduce",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "barrier",
        "bcast",
        "exscan",
    ),
    *("gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv"),
    *("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv"),
    "neighbor_alltoallw",
)
COLLECTIVES = (*BLOCKING, *(f"i{name}" for name in BLOCKING))
AVERAGE = ("allreduce", "bcast", "reduce", "alltoall")  # and their non-blocking forms
TOTALS = (
    "allgather",
    "allgatherv",
    "alltoallv",
    "alltoallw",
    "gather",
    "reduce_scatter",
    "reduce_scatter_block",
    "scatter",
)
RELEASE_GATHER = ("allreduce", "barrier", "bcast", "reduce")
MOST = 2**31 - 1
NUMBERED = re.compile(r"(comm_size|comm_avg_ppn|count|avg_msg_size|total_msg_size)(<=|<)(\d+)")
PLAIN = frozenset(
    [
        "is_multi_threaded=yes",
        "is_multi_threaded=no",
        "comm_type=intra",
        "comm_type=inter",
        "comm_size=pow2",
        "comm_size=node_comm_size",
        "is_node_consecutive=yes",
        "is_node_consecutive=no",
        "is_sendbuf_inplace=yes",
        "is_sendbuf_inplace=no",
        "is_block_regular=yes",
        "is_block_regular=no",
        "is_commutative=yes",
        "is_commutative=no",
        "is_op_built_in=yes",
        "is_op_built_in=no",
        "count<pow2",
        "comm_hierarchy=parent",
        "comm_hierarchy=node_roots",
        "comm_hierarchy=node",
        "comm_hierarchy=flat",
    ]
)
OF_COMMUNICATOR = ("comm_type", "comm_size", "comm_avg_ppn", "comm_hierarchy", "is_node_consecutive")
# Conditions after which a list may end without "any": both values are often named, or one is enough.
BOOLEAN = ("is_", "comm_type", "comm_hierarchy", "collective")
NEEDS_POW2 = re.compile(r"_allgatherv?_intra_recursive_doubling$", re.IGNORECASE)
NEEDS_COMMUTATIVE = re.compile(
    r"_(allreduce_intra_smp|reduce_scatter(_block)?_intra_"
    r"(pairwise|recursive_halving))$|_release_gather$",
    re.IGNORECASE,
)
WITHOUT_INTER = ("scan", "exscan")  # MPI has none between groups; the library's own tree does not care
NAMED = re.compile(r"MPI(?:R|DI)_(?:POSIX_mpi_|TSP_)?(\w+)")
LEAF = re.compile(r"(algorithm|composition)=(\w+)")


@dataclass(frozen=True)
class Way:
    """What is known of the calls that reach a place of the tree."""

    collective: str = ""
    conditions: tuple[str, ...] = ()

    @property
    def blocking(self) -> str:
        """The collective's name without the i of its non-blocking form."""
        plain = self.collective.removeprefix("i")
        return plain if plain in BLOCKING else self.collective

    def has(self, condition: str) -> bool:
        return condition in self.conditions


def key_of(condition: str) -> str:
    return re.split("[<=]", condition, maxsplit=1)[0]


def implemented(algorithm: str) -> str | None:
    """The collective of an algorithm, by its name; None if that does not tell."""
    found = NAMED.fullmatch(algorithm)
    plain = found[1].lower() if found else ""
    fitting = [name for name in COLLECTIVES if plain.startswith(f"{name}_")]
    return max(fitting, key=len) if fitting else None


def is_any(condition: str) -> bool:
    return condition == "any" or condition.endswith("=any")


def check_leaf(node: Node, name: str, way: Way, report: Report) -> None:
    found = LEAF.fullmatch(name)
    if not found:
        report.add(node.line, FAILS, f"'{name[:60]}' has no name of an algorithm; MPICH fails in MPI_Init")
        return
    report.rules += 1
    what = found[2]
    known = way.blocking
    if way.collective and implemented(what) not in (None, way.collective):
        report.add(
            node.line,
            FAILS,
            f"{what} does not implement {way.collective}; MPICH fails in MPI_Init or in the call",
        )
    if "_intra_" in what and way.has("comm_type=inter") and known not in WITHOUT_INTER:
        report.add(node.line, FAILS, f"{what} is below comm_type=inter; such a call fails")
    if "_inter_" in what and not way.has("comm_type=inter"):
        report.add(node.line, FAILS, f"{what} needs comm_type=inter above it; such a call fails")
    if NEEDS_POW2.search(what) and not way.has("comm_size=pow2"):
        report.add(node.line, FAILS, f"{what} aborts unless comm_size=pow2 is above it")
    if (
        NEEDS_COMMUTATIVE.search(what)
        and not way.has("is_commutative=yes")
        and known != "bcast"
        and known != "barrier"
    ):
        report.add(node.line, FAILS, f"{what} aborts unless is_commutative=yes is above it")


def check_size(line: int, kind: str, number: int, way: Way, report: Report) -> None:
    if number > MOST:
        report.add(line, UNIT, f"{number} does not fit 32 bits; MPICH reads another number (at most {MOST})")
    if not way.collective:
        return
    takes_average = way.blocking in AVERAGE
    if kind == "avg_msg_size" and not takes_average:
        report.add(line, FAILS, f"{way.collective} has no avg_msg_size, and MPICH aborts; use total_msg_size")
    elif kind == "total_msg_size" and way.blocking not in (*AVERAGE, *TOTALS):
        report.add(line, FAILS, f"{way.collective} has no total_msg_size, and MPICH aborts")
    elif kind == "total_msg_size" and takes_average:
        report.add(
            line,
            UNIT,
            f"total_msg_size of {way.collective} is the bytes of a vector or block * ranks; use avg_msg_size",
        )
    elif kind == "total_msg_size" and way.blocking in ("gather", "scatter"):
        note = f"total_msg_size of {way.collective} is count * ranks, without the size of the datatype"
        if note not in report.notes:
            report.notes.append(note)


def check_condition(condition: str, node: Node, way: Way, report: Report) -> None:
    if condition.startswith("collective="):
        name = condition.partition("=")[2]
        if name not in COLLECTIVES:
            report.add(node.line, FAILS, f"'{name[:40]}' is no collective of MPICH; it fails in MPI_Init")
        if way.collective:
            report.add(node.line, UNREACHABLE, f"{condition} is below collective={way.collective}")
        return
    numbered = NUMBERED.fullmatch(condition)
    if numbered:
        check_size(node.line, numbered[1], min(int(numbered[3][:30]), 10**30), way, report)
    elif condition not in PLAIN and not is_any(condition):
        report.add(node.line, FAILS, f"'{condition[:60]}' is no condition of MPICH; it fails in MPI_Init")
    sized = [each for each in way.conditions if "msg_size" in each or each.startswith("count")]
    if key_of(condition) in OF_COMMUNICATOR and sized:
        report.add(
            node.line,
            FAILS,
            f"{condition} is below {sized[0]}; conditions on the communicator come first, or MPICH aborts",
        )


def check_order(members: list[tuple[str, Node]], report: Report) -> None:
    """The alternatives of one place, in order; the last one must fit what the others leave."""
    limits: dict[str, int] = {}
    for at, (condition, node) in enumerate(members):
        if any(condition == other for other, _ in members[:at]):
            report.add(node.line, UNREACHABLE, f"{condition} occurs twice in this list")
        if is_any(condition) and at + 1 < len(members):
            report.add(
                node.line, FAILS, f"{condition} must be the last of its list; MPICH aborts in MPI_Init"
            )
        numbered = NUMBERED.fullmatch(condition)
        if numbered:
            limit = int(numbered[3][:30]) + (numbered[2] == "<=")
            before = limits.get(numbered[1], -1)
            if limit <= before:
                report.add(
                    node.line, UNREACHABLE, f"no call reaches {condition}: smaller ones are taken before"
                )
            limits[numbered[1]] = max(limit, before)
    last, node = members[-1]
    if not is_any(last) and not last.startswith(BOOLEAN):
        report.add(
            node.line, FAILS, f"this list ends with {last}; MPICH aborts in MPI_Init unless it ends with =any"
        )


def check_tree(node: Node, way: Way, report: Report) -> None:
    if node.kind != "object" or not node.members:
        where = way.conditions[-1] if way.conditions else "the tree"
        report.add(
            node.line, FAILS, f"nothing follows {where[:60]}; an algorithm must, or MPICH fails in MPI_Init"
        )
        return
    first, at_first = node.members[0]
    if first.startswith(("algorithm=", "composition=")):
        check_leaf(at_first, first, way, report)
        return
    check_order(node.members, report)
    for condition, below in node.members:
        check_condition(condition, below, way, report)
        after = replace(way, conditions=(*way.conditions, condition))
        if condition.startswith("collective="):
            after = replace(after, collective=condition.partition("=")[2])
        check_tree(below, after, report)


def names_of(node: Node) -> set[str]:
    """The collectives of a tree."""
    found: set[str] = set()
    for name, below in node.members:
        found |= {name.partition("=")[2]} if name.startswith("collective=") else names_of(below)
    return found


def check(root: Node) -> Report:
    report = Report(FORMAT, MPI)
    check_tree(root, Way(), report)
    named = names_of(root)
    missing = [name for name in COLLECTIVES if name not in named]
    if missing:
        shown = ", ".join(missing[:4]) + (f" and {len(missing) - 4} more" if len(missing) > 4 else "")
        report.add(
            root.line,
            FAILS,
            f"the file replaces the library's whole tree, and {shown} are missing: MPI_Init fails; "
            "begin with the "
            "library's own tree (convene rules export --to mpich)",
        )
    for name in RELEASE_GATHER:
        if name in named:
            report.notes.append(
                f"{name}: on one node MPICH runs release_gather, which this file does not change "
                "(MPIR_CVAR_DEVICE_COLLECTIVES=none turns that off)"
            )
    return report
