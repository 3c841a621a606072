# SPDX-License-Identifier: BSD-3-Clause
"""convene rules check on the rules of MPICH, Intel MPI and UCC."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Convene
from .rule_findings import checked

RING: dict[str, Any] = {"algorithm=MPIR_Allgather_intra_ring": {}}
INTER: dict[str, Any] = {"algorithm=MPIR_Allgather_inter_local_gather_remote_bcast": {}}
TREE: dict[str, Any] = {
    "comm_type=intra": {
        "comm_size=pow2": {"algorithm=MPIR_Allgather_intra_recursive_doubling": {}},
        "comm_size=any": {"total_msg_size<=3072": RING, "total_msg_size=any": RING},
    },
    "comm_type=inter": INTER,
}


def tree(collective: str = "allgather", intra: Any = None) -> str:
    branches = {**TREE, **({"comm_type=intra": intra} if intra else {})}
    return json.dumps({f"collective={collective}": branches}, indent=1)


REDUCE: dict[str, Any] = {"algorithm=MPIR_Reduce_intra_binomial": {}}
TREE_TRAPS = {
    "missing collective": (tree(), "fails: the file replaces the library's whole tree, and allgatherv"),
    "average of allgather": (
        tree(intra={"avg_msg_size<=64": RING, "avg_msg_size=any": RING}),
        "fails: allgather has no avg_msg_size",
    ),
    "total of reduce": (
        tree("reduce", {"total_msg_size<=64": REDUCE, "total_msg_size=any": REDUCE}),
        "unit: total_msg_size of reduce is the bytes of a vector or block * ranks",
    ),
    "2 GiB": (
        tree(intra={"total_msg_size<=4294967296": RING, "total_msg_size=any": RING}),
        "unit: 4294967296 does not fit 32 bits",
    ),
    "size before communicator": (
        tree(
            intra={
                "total_msg_size<=64": {"comm_size<8": RING, "comm_size=any": RING},
                "total_msg_size=any": RING,
            }
        ),
        "fails: comm_size<8 is below total_msg_size<=64",
    ),
    "no any": (tree(intra={"total_msg_size<=64": RING}), "fails: this list ends with total_msg_size<=64"),
    "any first": (
        tree(intra={"total_msg_size=any": RING, "total_msg_size<=64": RING}),
        "fails: total_msg_size=any must be the last of its list",
    ),
    "power of two": (
        tree(intra={"algorithm=MPIR_Allgather_intra_recursive_doubling": {}}),
        "fails: MPIR_Allgather_intra_recursive_doubling aborts unless comm_size=pow2",
    ),
    "commutative": (
        tree("allreduce", {"algorithm=MPIR_Allreduce_intra_smp": {}}),
        "fails: MPIR_Allreduce_intra_smp aborts unless is_commutative=yes",
    ),
    "inter for intra": (tree(intra=INTER), "fails: MPIR_Allgather_inter_local_gather_remote_bcast needs"),
    "other collective": (
        tree(intra={"algorithm=MPIR_Bcast_intra_binomial": {}}),
        "fails: MPIR_Bcast_intra_binomial does not implement allgather",
    ),
    "condition": (
        tree(intra={"comm_sizes<8": RING, "any": RING}),
        "fails: 'comm_sizes<8' is no condition of MPICH",
    ),
    "shadowed": (
        tree(intra={"total_msg_size<=64": RING, "total_msg_size<8": RING, "total_msg_size=any": RING}),
        "unreachable: no call reaches total_msg_size<8",
    ),
    "nothing below": (tree(intra={"comm_size=any": {}}), "fails: nothing follows comm_size=any"),
    "collective": (tree("allgahter"), "fails: 'allgahter' is no collective of MPICH"),
}


@pytest.mark.parametrize("name", TREE_TRAPS)
def test_traps_of_mpich(convene: Convene, tmp_path: Path, name: str) -> None:
    text, sentence = TREE_TRAPS[name]
    _, findings, _ = checked(convene, tmp_path, text)
    assert any(re.match(rf"\d+: {re.escape(sentence)}", found) for found in findings), findings


def test_a_branch_without_a_trap_lacks_the_others_only(convene: Convene, tmp_path: Path) -> None:
    _, findings, output = checked(convene, tmp_path, tree("reduce", {"avg_msg_size=any": REDUCE}))
    assert not [found for found in findings if "inter" not in found and "whole tree" not in found]
    assert "note: reduce: on one node MPICH runs release_gather" in output


GATHER = tree("gather", {"total_msg_size<8": {"algorithm=MPIR_Gather_intra_binomial": {}}})


def test_units_of_mpich_are_noted(convene: Convene, tmp_path: Path) -> None:
    assert "total_msg_size of gather is count * ranks, without" in checked(convene, tmp_path, GATHER)[2]


INTEL_TRAPS = {
    "preset": ("I_MPI_ADJUST_ALLGATHER=7", "unknown: I_MPI_ADJUST_ALLGATHER: preset 7 does not exist"),
    "variable": ("I_MPI_ADJUST_ALLGATHERS=1", "unknown: Intel MPI has no variable"),
    "unit": ('export I_MPI_ADJUST_BCAST="1:0-4k;2:4k-1m"', "dropped: I_MPI_ADJUST_BCAST: '0-4k' is no range"),
    "junk": ("I_MPI_ADJUST_BCAST=ring", "dropped: I_MPI_ADJUST_BCAST: 'ring' is no preset"),
    "shadowed": (
        "I_MPI_ADJUST_BCAST='1;2:0-64'",
        "unreachable: I_MPI_ADJUST_BCAST: earlier ranges cover 2:0-64 wholly",
    ),
    "overlap": (
        "I_MPI_ADJUST_BCAST='1:0-64;2:64-128'",
        "unreachable: I_MPI_ADJUST_BCAST: earlier ranges cover a part",
    ),
    "empty": ("I_MPI_ADJUST_BCAST='1:64-0'", "unreachable: I_MPI_ADJUST_BCAST: the range 64-0 is empty"),
    "twice": (
        "I_MPI_ADJUST_BCAST=1\nI_MPI_ADJUST_BCAST=2",
        "unreachable: I_MPI_ADJUST_BCAST is set again in line 2",
    ),
}


@pytest.mark.parametrize("name", INTEL_TRAPS)
def test_traps_of_intel(convene: Convene, tmp_path: Path, name: str) -> None:
    text, sentence = INTEL_TRAPS[name]
    _, findings, _ = checked(convene, tmp_path, text)
    assert findings[0].startswith(f"1: {sentence}"), findings


def test_intel_without_a_trap(convene: Convene, tmp_path: Path) -> None:
    text = 'export I_MPI_ADJUST_ALLGATHER="1:0-64;3:65-1000000@2-2;2:65-1000000@3-8"\n'
    assert checked(convene, tmp_path, text)[:2] == (0, [])


def ucc(value: str) -> str:
    return f"UCC_TL_UCP_TUNE={value}"


UCC_TRAPS = {
    "cpu": (ucc("allgather:0-4k:cpu:@ring"), "dropped: UCC_TL_UCP_TUNE: the memory type is host, not cpu"),
    "algorithm": (ucc("allgather:host:@rign"), "unknown: '@rign' is no algorithm of allgather"),
    "number": (ucc("allgather:host:@1"), "reach: @1 of allgather is a number, which differs by version"),
    "overlap": (
        ucc("allgather:0-4k:host:@ring#allgather:1k-8k:host:@bruck"),
        "fails: UCC_TL_UCP_TUNE: 'allgather:1k",
    ),
    "empty": (
        ucc("allgather:4k-4k:host:@ring"),
        "dropped: UCC_TL_UCP_TUNE: the size range from 4096 to 4096 is empty",
    ),
    "collective": (ucc("allgahter:host:@ring"), "dropped: UCC_TL_UCP_TUNE: 'allgahter' is no collective"),
    "nothing": (ucc("allgather:0-4k:host"), "dropped: 'allgather:0-4k:host' has neither"),
    "score 0": (ucc("allgather:0-4k:host:0"), "dropped: the score 0 of"),
    "memory": (ucc("allgather:@ring"), "reach: 'allgather:@ring' names no memory type"),
    "no collective": (ucc("host:@ring"), "dropped: UCC_TL_UCP_TUNE: @ring has no collective"),
}


@pytest.mark.parametrize("name", UCC_TRAPS)
def test_traps_of_ucc(convene: Convene, tmp_path: Path, name: str) -> None:
    text, sentence = UCC_TRAPS[name]
    _, findings, _ = checked(convene, tmp_path, text)
    assert findings[0].startswith(f"1: {sentence}"), findings


def test_ucc_without_a_trap(convene: Convene, tmp_path: Path) -> None:
    value = "allgather:0-4k:host:[2-64]:inf:@bruck#allgather:4k-inf:host:[2-64]:inf:@ring"
    text = f"[vendor=amd model=rome team_size=128 ppn=128 nnodes=1]\n{ucc(value)}\n"
    assert checked(convene, tmp_path, text)[:2] == (0, [])
