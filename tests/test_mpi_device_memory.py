# SPDX-License-Identifier: BSD-3-Clause
"""Programs with a GPU runtime (here a stand-in): calls that may have device buffers stay native."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conformance.stacks import Done
from tests.test_mpi_runtime import calls, present

STACKS = ["openmpi4", "openmpi5", "mpich5-abi"]
# The nodes of the tests count as ones with a GPU.
USE = {"CONVENE_USE": "allgather=ring", "CONVENE_CHECK": "gpu"}
GPU_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD128", "/dev/dxg")
FORCED, DEVICE = ("ring", "forced"), ("native", "device memory")
NOT_YET = ("native", "no internal communicator yet")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with the name of CUDA's driver."""
    library = tmp_path_factory.mktemp("cuda") / "libcuda.so.1"
    source = library.with_suffix(".c")
    source.write_text("int cuInit(unsigned flags) { return flags != 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def run(name: str, library: Path, when: str, **variables: str) -> Done:
    stack = present(name)
    program: list[str | Path] = [stack.program("device_memory"), library, when]
    done = stack.run(3, program, {**USE, **variables}, timeout=60)
    assert not done.problem(), done.problem()
    return done


@pytest.mark.parametrize("name", STACKS)
def test_all_ranks_stay_native_if_one_has_a_runtime(name: str, runtime: Path) -> None:
    """The first call does not block: nothing is agreed yet. The others' communicator has no runtime."""
    counts = calls(run(name, runtime, "early"))
    assert counts == {NOT_YET: 3, FORCED: 2, DEVICE: 3 * 4}


@pytest.mark.parametrize("name", STACKS)
def test_a_runtime_that_is_loaded_later_counts_from_the_first_blocking_call(name: str, runtime: Path) -> None:
    assert calls(run(name, runtime, "late")) == {NOT_YET: 3, FORCED: 2, DEVICE: 3 * 4}


@pytest.mark.parametrize("name", STACKS)
def test_nodes_without_gpus_agree_once(name: str, runtime: Path) -> None:
    """In MPI_Init; the other ranks' communicator is made later."""
    if any(Path(file).exists() for file in GPU_FILES):
        pytest.skip("this machine has a GPU")
    assert calls(run(name, runtime, "late", CONVENE_CHECK="nothing")) == {FORCED: 3 * 5 + 2}


def test_a_runtime_that_the_program_is_linked_to_counts_in_all_calls(runtime: Path) -> None:
    """As CUDA's would be: it is loaded before MPI_Init."""
    stack = present("openmpi4")
    preload = f"{stack.preload}:{runtime}"
    program: list[str | Path] = [stack.program("device_memory"), runtime, "early"]
    done = stack.run(3, program, {**USE, "CONVENE_LOG": "info"}, preload=Path(preload), timeout=60)
    assert not done.problem(), done.problem()
    assert calls(done) == {DEVICE: 3 * 5 + 2}
    assert "a communicator of 3 processes uses native algorithms only: a GPU runtime is loaded" in done.output


def test_the_user_may_know_better(runtime: Path) -> None:
    assert calls(run("openmpi4", runtime, "early", CONVENE_DEVICE_MEMORY="never")) == {FORCED: 3 * 5 + 2}
    assert calls(run("openmpi4", runtime, "early", CONVENE_DEVICE_MEMORY="always")) == {DEVICE: 3 * 5 + 2}


def test_another_library_is_no_runtime(runtime: Path, tmp_path: Path) -> None:
    other = shutil.copy(runtime, tmp_path / "libother.so.1")
    assert calls(run("openmpi4", Path(other), "early")) == {NOT_YET: 3, FORCED: 3 * 4 + 2}


def test_an_unknown_setting_is_refused(runtime: Path) -> None:
    stack = present("openmpi4")
    done = stack.run(2, [stack.program("device_memory"), runtime, "early"], {"CONVENE_DEVICE_MEMORY": "no"})
    assert done.status == 2
    assert "CONVENE_DEVICE_MEMORY='no' is not known; try one of: detect, never, always" in done.output
