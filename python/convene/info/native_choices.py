# SPDX-License-Identifier: BSD-3-Clause
"""What native runs, where that can be read: MPICH's selection tree is text inside its library.

The walk is for one node, a single thread, contiguous doubles and a commutative predefined operator.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from convene.rules import mpich_library, mpich_tree
from convene.rules.mpich_library import Tree

SIZES = (8, 4096, 1 << 20)  # bytes of a block; of the vector of reductions and broadcasts
COLLECTIVES = ("allgather", "allreduce", "alltoall", "bcast", "reduce", "reduce_scatter")
ITEM = 8
NUMBER = re.compile(r"(comm_size|comm_avg_ppn|count|avg_msg_size|total_msg_size)(<=|<)(\d+|pow2)")
LEAF = re.compile(r"(?:algorithm|composition)=(\w+)")
PREFIX = re.compile(r"MPI(?:R|DI)_(?:POSIX_mpi_)?")
CHANGED = re.compile(r"MPIR_CVAR_(\w*(ALGORITHM|SELECTION_TUNING_JSON_FILE|COMPOSITION)|DEVICE_COLLECTIVES)")
FACTS = frozenset(
    [
        "comm_type=intra",
        "comm_size=node_comm_size",
        "comm_hierarchy=flat",
        "is_multi_threaded=no",
        "is_commutative=yes",
        "is_op_built_in=yes",
        "is_block_regular=yes",
        "is_sendbuf_inplace=no",
        "is_node_consecutive=yes",
    ]
)


@dataclass(frozen=True)
class NativeCall:
    collective: str
    procs: int
    bytes: int  # of a block, or of the vector

    def value(self, name: str) -> int:
        """As MPICH's conditions count it."""
        if name in ("comm_size", "comm_avg_ppn"):
            return self.procs
        if name == "count":
            return self.bytes // ITEM
        is_total = name == "total_msg_size" and self.collective not in mpich_tree.AVERAGE
        return self.bytes * (self.procs if is_total else 1)

    def meets(self, condition: str) -> bool:
        if condition == "any" or condition.endswith("=any") or condition in FACTS:
            return True
        if condition == f"collective={self.collective}":
            return True
        if condition == "comm_size=pow2":
            return self.procs & (self.procs - 1) == 0
        found = NUMBER.fullmatch(condition)
        if not found:
            return False
        largest = 1 << (self.procs.bit_length() - 1)
        limit = largest if found[3] == "pow2" else int(found[3])
        return self.value(found[1]) < limit + (found[2] == "<=")


def walk(tree: Tree, call: NativeCall) -> str:
    """The algorithm to which a tree leads; empty if no branch fits."""
    for condition, below in tree.items():
        if leaf := LEAF.fullmatch(condition):
            return leaf[1]
        if isinstance(below, dict) and call.meets(condition) and (found := walk(below, call)):
            return found
    return ""


def name_of(algorithm: str, collective: str) -> str:
    """brucks, of MPIR_Allgather_intra_brucks; release_gather, of MPIDI_POSIX_mpi_bcast_release_gather."""
    plain = PREFIX.sub("", algorithm, count=1)
    return re.sub(rf"^{collective}_(intra_)?", "", plain, flags=re.IGNORECASE) or "?"


@dataclass(frozen=True)
class NativeChoices:
    mpi: str
    procs: int
    sizes: list[int]
    algorithms: dict[str, list[str]]  # by collective, for each size
    changed_by: list[str]  # variables of MPICH that may change the choice


def of_trees(trees: list[Tree], mpi: str, procs: int) -> NativeChoices:
    """`trees`: the largest is for all collectives, the smallest for those within a node, which go first."""
    ordered = [trees[-1], trees[0]] if len(trees) > 1 else trees

    def choice(call: NativeCall) -> str:
        found = next((found for tree in ordered if (found := walk(tree, call))), "")
        return name_of(found, call.collective)

    table = {name: [choice(NativeCall(name, procs, size)) for size in SIZES] for name in COLLECTIVES}
    changed = sorted(name for name in os.environ if CHANGED.fullmatch(name))
    return NativeChoices(mpi, procs, list(SIZES), table, changed)


def of_mpich(version: str, procs: int) -> NativeChoices | None:
    """The choices of an installed MPICH of this version; None if its library is not found."""
    for path in mpich_library.candidates():
        trees = trees_of_version(path, version)
        if trees:
            return of_trees(trees, f"MPICH {version}", procs)
    return None


def trees_of_version(path: Path, version: str) -> list[Tree]:
    data = path.read_bytes()
    return mpich_library.trees_in(data) if version.encode() in data and b'"collective=' in data else []
