# SPDX-License-Identifier: BSD-3-Clause
"""Exported rules, read by their MPIs: the algorithm that runs is the one named. Nothing is timed."""

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from convene.rules import checking, exporting, mpich_export, mpich_library, mpich_tree
from convene.rules.choices import Choice, Chosen
from convene.rules.openmpi_names import TWO_PROC, algorithms
from convene.tune.wisdom_files import Entry

from tests import native_choices
from tests.conformance.stacks import Stack, all_stacks

HERE = Path(__file__).resolve().parent
LIBRARIES = {
    "openmpi4": sorted(Path("/usr/lib").glob("*/libmpi.so.40")),
    "openmpi5": [HERE.parent / ".stacks" / "openmpi5" / "lib" / "libmpi.so.40"],
    "mpich4": sorted(Path("/usr/lib").glob("*/libmpich.so.12")),
    "mpich5": [HERE.parent / ".stacks" / "mpich5" / "lib" / "libmpi.so.12"],
}
VERSIONS = {"openmpi4": ("openmpi-4", "Open MPI 4.1.4"), "openmpi5": ("openmpi-5", "Open MPI 5.0.11")}
RANKS = 4
COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce"),
    *("reduce_scatter", "reduce_scatter_block", "scatter"),
)
SEEDS = range(100)


def stack_of(name: str) -> Stack:
    stack = all_stacks()[name]
    if not shutil.which(stack.launcher) or not shutil.which(stack.wrapper) or not LIBRARIES[name]:
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path | None]]:
    """The program and the library of wrappers, by stack, as they are needed."""
    folder = tmp_path_factory.mktemp("native")
    made: dict[str, tuple[Path, Path | None]] = {}

    class Made(dict[str, tuple[Path, Path | None]]):
        def __missing__(self, name: str) -> tuple[Path, Path | None]:
            place = folder / name
            place.mkdir()
            program = place / "native_choice"
            stack_of(name).compile(HERE / "native_choice.c", program)
            wrappers = native_choices.build(place, LIBRARIES[name]) if name in VERSIONS else None
            self[name] = program, wrappers
            return self[name]

    return Made(made)


def entry(mpi: str, collective: str, procs: int, sizes: list[int], algorithm: str) -> Entry:
    made: dict[str, Any] = {
        "mpi": mpi,
        "cpu": "A",
        "cores": 2,
        "network": "",
        "collective": collective,
        "procs": procs,
        "nodes": 1,
        "ranks_per_node": procs,
        "shares_cores": False,
        "bytes": sizes,
        "use": "native",
        "ratio": 0.5,
        "upper": 0.6,
        "measured": "2026-11-26",
        "native_algorithm": algorithm,
    }
    return cast(Entry, made)


def random_entries(target: str, mpi: str, choose: random.Random) -> list[Entry]:
    """For some communicators of each collective, up to three ranges of sizes."""
    entries = []
    for collective in COLLECTIVES:
        for procs in sorted(choose.sample(range(2, RANKS + 1), choose.randint(1, 2))):
            known = [name for name in algorithms(target, collective)[1:] if name != TWO_PROC or procs == 2]
            count = 1 if collective == "barrier" else choose.randint(1, 3)
            ends = sorted(choose.sample(range(8, 20000, 8), 2 * count))
            for low, high in zip(ends[::2], ends[1::2], strict=True):
                sizes = [0, 0] if collective == "barrier" else [low, high]
                entries.append(entry(mpi, collective, procs, sizes, choose.choice(known)))
    return entries


def calls_of(entries: list[Entry], choose: random.Random) -> dict[str, str]:
    """Calls at the ends of each range and between them, and the function that each must run."""
    wanted = {}
    for each in entries:
        low, high = each["bytes"]
        name = native_choices.function_of(each["collective"], str(each.get("native_algorithm")))
        for size in {low, high, choose.randrange(low, high + 1, 8) if high else 0}:
            wanted[f"{each['collective']}:{each['procs']}:{size}"] = name
    return wanted


def ran(output: str) -> dict[str, str]:
    return dict(
        line.split() for line in output.splitlines() if ":" in line.split(" ")[0] and len(line.split()) == 2
    )


def run(
    stack: Stack, tool: tuple[Path, Path | None], calls: list[str], variables: dict[str, str]
) -> tuple[int, str]:
    program, wrappers = tool
    done = stack.run(RANKS, [program, *calls], variables, preload=wrappers or False, timeout=60)
    return done.status, done.output


@pytest.mark.sampled(default=1, all=8)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", VERSIONS)
def test_open_mpi_runs_what_is_named(name: str, seed: int, tools: Any, tmp_path: Path) -> None:
    stack, tool = stack_of(name), tools[name]
    target, mpi = VERSIONS[name]
    choose = random.Random(f"{name} {seed}")
    entries = random_entries(target, mpi, choose)
    path = tmp_path / "tuned.conf"
    done = exporting.export(entries, target, path, exporting.Selected())
    path.write_text(done.text)
    assert done.left == []
    assert [report.findings for report in checking.check(done.text, str(path), target)] == [[]]
    wanted = calls_of(entries, choose)
    status, output = run(stack, tool, list(wanted), done.environment)
    assert status == 0, output
    assert "all right" in output
    found = ran(output)
    wrong = [(call, name, found.get(call)) for call, name in wanted.items() if found.get(call) != name]
    assert not wrong, wrong


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.all) for name in VERSIONS])
def test_calls_beside_the_rules_stay_native(name: str, tools: Any, tmp_path: Path) -> None:
    """Other sizes, and other numbers of ranks, below and above."""
    stack, tool = stack_of(name), tools[name]
    target, mpi = VERSIONS[name]
    path = tmp_path / "tuned.conf"
    done = exporting.export([entry(mpi, "bcast", 3, [64, 128], "chain")], target, path, exporting.Selected())
    path.write_text(done.text)
    calls = [f"bcast:{procs}:{size}" for procs in (2, 3, 4) for size in (56, 64, 128, 136)]
    rules = ran(run(stack, tool, calls, done.environment)[1])
    native = ran(run(stack, tool, calls, {})[1])
    chain = {"bcast:3:64", "bcast:3:128"}
    assert {call for call in calls if rules[call] != native[call]} == chain
    assert {rules[call] for call in chain} == {"ompi_coll_base_bcast_intra_chain"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.all) for name in VERSIONS])
def test_findings_are_what_happens(name: str, tools: Any, tmp_path: Path) -> None:
    """Two traps: a file whose first size is not 0 is dropped, and two_proc fails with three ranks."""
    stack, tool = stack_of(name), tools[name]
    target, _ = VERSIONS[name]
    path = tmp_path / "tuned.conf"
    path.write_text("1\n7\n1\n0\n1\n8 2 0 0\n")
    variables = exporting.environment(target, str(path))
    assert [each.kind for each in checking.check(path.read_text(), "f", target)[0].findings] == ["dropped"]
    _, output = run(stack, tool, ["bcast:3:64"], variables)
    assert ran(output) == ran(run(stack, tool, ["bcast:3:64"], {})[1])
    path.write_text("1\n0\n1\n0\n1\n0 6 0 0\n")
    assert [each.kind for each in checking.check(path.read_text(), "f", target)[0].findings] == ["fails"]
    assert run(stack, tool, ["allgather:3:64"], variables)[0] != 0


# On one node, release_gather would run instead of the tree.
ONE_NODE = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}
# By collective an algorithm that aborts within one group.
ABORTS = {
    "allgatherv": "MPIR_Allgatherv_inter_remote_gather_local_bcast",
    "bcast": "MPIR_Bcast_inter_remote_send_local_bcast",
    "reduce": "MPIR_Reduce_inter_local_reduce_remote_send",
}
MPICHS = [pytest.param(name, marks=pytest.mark.all) for name in ("mpich4", "mpich5")]


def run_tree(name: str, tools: Any, tree: str, calls: list[str], folder: Path) -> tuple[int, str]:
    path = folder / "tree.json"
    path.write_text(tree)
    variables = {**ONE_NODE, **exporting.environment("mpich", str(path))}
    return run(stack_of(name), tools[name], calls, variables)


@pytest.mark.long  # an abort can leave ranks and the launcher waiting, under 4.0.2 often
@pytest.mark.parametrize("collective", ABORTS)
@pytest.mark.parametrize("name", ["mpich5"])
def test_mpich_reads_conditions_and_units(name: str, collective: str, tools: Any, tmp_path: Path) -> None:
    """An algorithm that aborts stands in a branch for 3 ranks and 64 to 128 bytes."""
    tree = mpich_library.tree_of(LIBRARIES[name][0], "")
    choice = Choice(collective, 3, 64, 128, ABORTS[collective])
    where = tree[f"collective={collective}"]
    where["comm_type=intra"] = mpich_export.branch(where["comm_type=intra"], {3: [choice]}, {})
    text = json.dumps(tree)
    beside = [f"{collective}:{procs}:{size}" for procs in (2, 3, 4) for size in (56, 136)]
    beside += [f"{collective}:{procs}:{size}" for procs in (2, 4) for size in (64, 128)]
    status, output = run_tree(name, tools, text, beside, tmp_path)
    assert status == 0, output
    assert "all right" in output
    for size in (64, 128):
        status, output = run_tree(name, tools, text, [f"{collective}:3:{size}"], tmp_path)
        assert status not in (0, 124), output


def choices_of(tree: dict[str, Any], choose: random.Random) -> list[Choice]:
    """Random choices among the algorithms that the library has for each collective."""
    found = []
    for collective in mpich_export.SIZED:
        known = sorted(mpich_export.leaves(tree[f"collective={collective}"]))
        for procs in sorted(choose.sample(range(2, RANKS + 1), 2)):
            each = Choice(collective, procs, 8 * choose.randint(1, 99), 8 * choose.randint(100, 999), "")
            fitting = [replace(each, algorithm=name) for name in known]
            fitting = [one for one in fitting if not mpich_export.reason_against(one, tree)]
            found.append(choose.choice([one for one in fitting if "inplace" not in one.algorithm]))
    return found


def walk(tree: dict[str, Any], procs: int, size: int, scale: int) -> str:
    """The algorithm of a call without hierarchy, by MPICH's reading of the tree."""
    for condition, below in tree.items():
        if condition.startswith("algorithm="):
            return condition.partition("=")[2]
        met = mpich_export.decide_size(condition, procs)
        if "msg_size<" in condition:
            limit = int(condition.rpartition("<")[2].lstrip("="))
            met = size * scale <= limit - ("<=" not in condition)
        elif met is None:
            met = condition in MET or condition.endswith("=any")
        if met:
            return walk(below, procs, size, scale)
    raise AssertionError(f"no branch of {list(tree)} fits")


MET = (
    *("comm_type=intra", "comm_hierarchy=parent", "is_commutative=yes", "is_op_built_in=yes"),
    *("is_node_consecutive=yes", "is_block_regular=yes", "is_sendbuf_inplace=no"),
)


@pytest.mark.sampled(all=1)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MPICHS)
def test_mpich_names_by_walking_the_tree(name: str, seed: int, tools: Any, tmp_path: Path) -> None:
    """The tree gives each call the algorithm that was chosen, and MPICH runs all of them."""
    original = mpich_library.tree_of(LIBRARIES[name][0], "")
    chosen = choices_of(original, random.Random(f"{name} {seed}"))
    made = Chosen(chosen, [], "MPICH")
    text = mpich_export.mpich_rules(made, LIBRARIES[name][0])
    assert made.left == []
    assert [report.findings for report in checking.check(text, "tree.json")] == [[]]
    tree, calls = json.loads(text), []
    for each in chosen:
        scale = 1 if each.collective in mpich_tree.AVERAGE else each.procs
        now, before = (every[f"collective={each.collective}"] for every in (tree, original))
        for size in (each.least, each.most):
            assert walk(now, each.procs, size, scale) == each.algorithm
            calls.append(f"{each.collective}:{each.procs}:{size}")
        for size in (each.least - 1, each.most + 1):
            assert walk(now, each.procs, size, scale) == walk(before, each.procs, size, scale)
    status, output = run_tree(name, tools, text, calls, tmp_path)
    assert status == 0, output
    assert "all right" in output
