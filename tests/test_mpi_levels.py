# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchies within a node in running programs, on synthetic machines: declared, or with a sysfs of their
own."""

import os
from pathlib import Path

import pytest

from tests.conformance import random_calls, reductions
from tests.conformance.stacks import Done, Stack
from tests.test_mpi_hierarchy import present

USES = (
    "allgather=hier(sparbit,linear;level=l3)",
    "allgatherv=hier(ring,linear;level=l3)",
    "gather=hier(binomial,shared;level=socket)",
    "scatter=hier(binomial,shared;level=socket)",
    "bcast=hier(shared,shared;level=auto)",
    "barrier=hier(dissemination,linear;level=auto)",
)
REDUCTIONS = (
    "allreduce hier(shared;level=auto) commutative",
    "allreduce hier(recursive_doubling,linear;level=socket) commutative",
    "reduce hier(shared;segments=2,shared;level=socket) commutative",
    "bcast hier(shared,shared;level=socket)",
)
FOUR_RANKS = {"CONVENE_MACHINE": "node:1 socket:2 core:2"}


def messages(done: Done) -> set[str]:
    return {message for profile in done.profiles for message in profile["messages"]}


@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_random_calls_on_a_declared_machine(name: str) -> None:
    stack = present(name)
    options = ["--interposed", "--calls", "100", "--seed", "5"]
    done = stack.run(
        4, [random_calls.program_of(stack), *options], FOUR_RANKS | {"CONVENE_USE": ",".join(USES)}
    )
    assert done.problem() == ""
    for use in USES:
        collective, algorithm = use.split("=", 1)
        assert algorithm in done.algorithms(collective)
    assert "levels within nodes: socket:2" in messages(done)


@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_nodes_with_domains(name: str) -> None:
    """Two nodes with two domains each: three levels, the inner ones through shared memory."""
    stack = present(name)
    done = stack.run(
        4,
        [random_calls.program_of(stack), "--interposed", "--calls", "60", "--seed", "2"],
        {
            "CONVENE_MACHINE": "node:2 numa:2 core:1",
            "CONVENE_USE": "bcast=hier(binomial,hier(shared;level=numa))",
        },
    )
    assert done.problem() == ""
    assert "hier(binomial,hier(shared,shared;level=numa))" in done.algorithms("bcast")


@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_random_reductions(name: str) -> None:
    stack = present(name)
    program = random_calls.program_of(stack, reductions.RANDOM)
    options = [*reductions.options_of(stack, reductions.RANDOM), "--calls", "150", "--seed", "3"]
    variables = FOUR_RANKS | {"CONVENE_TEST_SPECS": "\n".join(REDUCTIONS)}
    assert stack.run(4, [program, *options], variables, preload=False).problem() == ""


def two_sockets(folder: Path, cpus: list[int]) -> Path:
    """A sysfs in which two CPUs are on different sockets."""
    system = folder / "devices" / "system" / "cpu"
    for cpu in cpus:
        file = system / f"cpu{cpu}" / "topology" / "package_cpus_list"
        file.parent.mkdir(parents=True)
        file.write_text(f"{cpu}\n")
    return folder


def on_two_cpus(stack: Stack, variables: dict[str, str], *, cpus: list[int], bound: bool) -> Done:
    """Four ranks of a program; the first two on one CPU, the others on another, or all on both."""
    program = stack.program("allgather_plain")
    choice = " ".join(
        map(str, [cpus[0], cpus[0], cpus[1], cpus[1]] if bound else [f"{cpus[0]},{cpus[1]}"] * 4)
    )
    script = f"set -- {choice}; shift ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; exec taskset -c $1 {program}"
    return stack.run(4, ["/bin/sh", "-c", script], variables)


@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
@pytest.mark.parametrize("bound", [True, False])
def test_domains_are_read_from_sysfs(name: str, bound: bool, tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("one CPU")
    spec = "hier(sparbit,linear;level=socket)"
    variables = {"CONVENE_USE": f"allgather={spec}", "CONVENE_SYSFS": str(two_sockets(tmp_path, cpus))}
    done = on_two_cpus(present(name), variables, cpus=cpus, bound=bound)
    assert done.status == 0, done.output
    assert done.algorithms("allgather") == {spec}
    reason = "; socket is unknown: the affinity of rank 0 covers several of its domains; bind ranks to cores"
    assert messages(done) >= {
        "levels within nodes: socket:2" if bound else f"no level divides a node{reason}",
    }
