# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests of collectives under `convene run`: the short form.

The whole is `python -m tests.conformance.mpi4py_suite`."""

import pytest

from tests.conformance import allgather, mpi4py_suite
from tests.conformance.stacks import all_stacks

BLOCKING = r"test_cco_(buf|vec)\."  # those that come to an allgather, but for pickled objects


def run(name: str, procs: int, spec: str, tests: str) -> mpi4py_suite.Result:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    try:
        mpi4py_suite.suite()
    except mpi4py_suite.NotToBeHadError as error:
        pytest.skip(str(error))
    return mpi4py_suite.run_suite(stack, procs, spec, tests, timeout=300)


@pytest.mark.sampled(default=1, all=2)
@pytest.mark.parametrize("spec", [spec for spec in allgather.usual_specs() if spec != "native"])
def test_every_algorithm(spec: str) -> None:
    result = run("openmpi4", 2, spec, BLOCKING)
    assert result.outcome == "passed", result.problem
    assert result.tests > 100
    assert min(result.calls.values()) > 1000


@pytest.mark.all
@pytest.mark.sampled(all=1)
@pytest.mark.parametrize("name", list(mpi4py_suite.LIBRARIES))
def test_every_stack(name: str) -> None:
    """Blocking and persistent calls, and non-blocking ones, which let go of their arrays too early."""
    result = run(name, 3, "sparbit", r"test_cco_(buf|nb_vec|pr_.*)\.")
    assert result.outcome == "passed", result.problem
    assert result.tests > 250
    assert result.calls["allgather"] > 1000


@pytest.mark.parametrize("name", list(mpi4py_suite.LIBRARIES))
def test_an_unmet_requirement_is_declared(name: str) -> None:
    result = run(name, 3, "recursive_doubling", "test_cco_buf")
    assert result.outcome == "declared", result.problem
