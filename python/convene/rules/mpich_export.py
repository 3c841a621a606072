# SPDX-License-Identifier: BSD-3-Clause
"""Branches for measured choices in the selection tree of the user's MPICH."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convene.rules.choices import Choice, Chosen, Left, by_case
from convene.rules.mpich_library import Tree, tree_of
from convene.rules.mpich_tree import (
    AVERAGE,
    MOST,
    NEEDS_COMMUTATIVE,
    NEEDS_POW2,
    NUMBERED,
    OF_COMMUNICATOR,
    implemented,
    is_any,
    key_of,
)

TOTAL = ("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block")
SIZED = (*AVERAGE, *TOTAL)


def leaves(tree: Tree) -> dict[str, Tree]:
    """Algorithms of a tree with their parameters."""
    found: dict[str, Tree] = {}
    for name, below in tree.items():
        if name.startswith("algorithm="):
            found[name.partition("=")[2]] = below
        else:
            found.update(leaves(below))
    return found


def is_pow2(procs: int) -> bool:
    return procs & (procs - 1) == 0


def decide_size(condition: str, procs: int) -> bool | None:
    """True if communicators of `procs` ranks meet a condition; None if it depends on other things."""
    if condition == "comm_size=pow2":
        return is_pow2(procs)
    numbered = NUMBERED.fullmatch(condition)
    if key_of(condition) != "comm_size" or not (numbered or is_any(condition)):
        return None
    if is_any(condition):
        return True
    assert numbered is not None
    limit = int(numbered[3])
    return procs <= limit if numbered[2] == "<=" else procs < limit


def for_ranks(tree: Tree, procs: int) -> Tree:
    """A tree without conditions on the number of ranks, which is known."""
    kept: Tree = {}
    for condition, below in tree.items():
        met = decide_size(condition, procs)
        if met is None:
            kept[condition] = for_ranks(below, procs)
        elif met:
            rest = for_ranks(below, procs)
            if not kept:
                return rest
            kept["comm_size=any"] = rest
            return kept
    return kept


def below_communicator(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """Changes the parts of a tree below all conditions on the communicator."""
    if not any(key_of(condition) in OF_COMMUNICATOR for condition in tree):
        return change(tree)
    return {condition: below_communicator(below, change) for condition, below in tree.items()}


def with_choices(native: Tree, choices: list[Choice], parameters: dict[str, Tree]) -> Tree:
    """Sizes first, then the tree that the library has."""
    collective = choices[0].collective
    kind = "avg_msg_size" if collective in AVERAGE else "total_msg_size"
    scale = 1 if collective in AVERAGE else choices[0].procs
    made: Tree = {}
    covered = 0  # sizes below have a branch
    for each in choices:
        least, most = each.least * scale, min((each.most + 1) * scale - 1, MOST)
        leaf = {f"algorithm={each.algorithm}": parameters.get(each.algorithm, {})}
        if NEEDS_COMMUTATIVE.search(each.algorithm):
            leaf = {"is_commutative=yes": leaf, "is_commutative=no": native}
        if least > covered:
            made[f"{kind}<={least - 1}"] = native
        made[f"{kind}<={most}"] = leaf
        covered = most + 1
    made[f"{kind}=any"] = native
    return made


def branch(native: Tree, cases: dict[int, list[Choice]], parameters: dict[str, Tree]) -> Tree:
    """The branch of a collective within a group: conditions on ranks first, then on sizes."""
    made: Tree = {}
    covered = 1
    for procs, choices in sorted(cases.items()):
        if procs > covered + 1:
            made[f"comm_size<={procs - 1}"] = native

        def change(tree: Tree, choices: list[Choice] = choices) -> Tree:
            return with_choices(tree, choices, parameters)

        own = below_communicator(for_ranks(native, procs), change)
        # The condition holds, but the library's tree has it above these algorithms, too.
        own = {"comm_size=pow2": own, "comm_size=any": native} if is_pow2(procs) else own
        made[f"comm_size<={procs}"] = own
        covered = procs
    made["comm_size=any"] = native
    return made


def reason_against(each: Choice, tree: Tree) -> str:
    """The reason why the tree cannot express a choice; empty if it can."""
    if each.collective not in SIZED:
        return "MPICH's condition on the size has no bytes for this collective"
    if f"collective={each.collective}" not in tree:
        return "the library's tree has no such collective"
    if implemented(each.algorithm) != each.collective or "_intra_" not in each.algorithm:
        return "not the name of an algorithm within one group, as in MPIR_Allgather_intra_ring"
    if each.algorithm.endswith("_smp"):
        return "aborts on communicators without a hierarchy of nodes, such as those of one node"
    if NEEDS_POW2.search(each.algorithm) and not is_pow2(each.procs):
        return "aborts unless the number of ranks is a power of two"
    scale = 1 if each.collective in AVERAGE else each.procs
    return "sizes of 2 GiB and more cannot be given" if each.least * scale > MOST else ""


def mpich_rules(chosen: Chosen, library: Path | None) -> str:
    """The whole tree, as MPICH reads it. Raises RequestError if there is no library."""
    tree = tree_of(library, chosen.mpi.removeprefix("MPICH "))
    kept = []
    for each in chosen.choices:
        if reason := reason_against(each, tree):
            chosen.left.append(Left(str(each), reason))
        else:
            kept.append(each)
    parameters = leaves(tree)
    for collective, cases in by_case(kept).items():
        place: dict[str, Any] = tree[f"collective={collective}"]
        if "comm_type=intra" in place:
            place["comm_type=intra"] = branch(place["comm_type=intra"], cases, parameters)
        else:
            tree[f"collective={collective}"] = branch(place, cases, parameters)
    return json.dumps(tree, indent=1) + "\n"
