# SPDX-License-Identifier: BSD-3-Clause
"""An installation can be moved, and C programs find it through CMake and through pkg-config."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = """
#include <mpi.h>

#include <convene/convene.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, sum = 0, all[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int status = convene_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) sum += all[i];
  MPI_Finalize();
  return status != MPI_SUCCESS || sum != size * (size - 1) / 2;
}
"""

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(convene 0.2 REQUIRED COMPONENTS openmpi)
add_executable(program program.c)
target_link_libraries(program convene::convene-openmpi)
"""


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation that was moved afterwards."""
    if not (build / "lib" / "libconvene-openmpi.so").exists():
        pytest.skip("the stack openmpi is not built here")
    first = tmp_path_factory.mktemp("install") / "first"
    run("cmake", "--install", build, "--prefix", first)
    return first.rename(first.with_name("second"))


@pytest.fixture
def consumer(tmp_path: Path) -> Path:
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    return tmp_path


def test_find_package(prefix: Path, consumer: Path) -> None:
    run(
        *("cmake", "-S", consumer, "-B", consumer / "build", "-G", "Ninja"),
        *(f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_C_COMPILER=mpicc.openmpi"),
    )
    run("cmake", "--build", consumer / "build")
    run("mpirun.openmpi", "-n", "3", consumer / "build" / "program")


def test_find_package_names_a_stack_that_is_missing(prefix: Path, consumer: Path) -> None:
    (consumer / "CMakeLists.txt").write_text(PROJECT.replace("openmpi", "nompi"))
    done = subprocess.run(
        ["cmake", "-S", consumer, "-B", consumer / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "no stack 'nompi'" in " ".join(done.stderr.split())


def test_pkg_config(prefix: Path, consumer: Path) -> None:
    (folder,) = prefix.rglob("pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "convene-openmpi", PKG_CONFIG_PATH=str(folder)).split()
    program = consumer / "program"
    run("mpicc.openmpi", consumer / "program.c", "-o", program, *flags)
    run("mpirun.openmpi", "-n", "3", program, LD_LIBRARY_PATH=str(folder.parent))
    assert run("pkg-config", "--modversion", "convene-openmpi", PKG_CONFIG_PATH=str(folder)).startswith("0.2")


def test_component_of_open_mpi(prefix: Path) -> None:
    if not list(prefix.rglob("mca_coll_convene.so")):
        pytest.skip("the component of Open MPI 4.1 is not built here")
    (folder,) = prefix.glob("lib*/convene/openmpi")
    listed = run("ompi_info", OMPI_MCA_mca_base_component_path=f"{folder}:SYSTEM_DEFAULT")
    assert "MCA coll: convene (" in listed
    assert "MCA hook: convene (" in listed


def test_manual_pages(prefix: Path) -> None:
    pages = {path.name for path in (prefix / "share" / "man").glob("man*/*")}
    assert {"convene.1", "convene-run.1", "convene-simulate-sweep.1", "libconvene.7"} <= pages


FIND_STACKS = """
cmake_minimum_required(VERSION 3.25)
set(PROJECT_SOURCE_DIR {folder})
set(CMAKE_C_COMPILER cc)
set(CONVENE_STACKS_DIR {folder}/stacks)
{settings}
include({root}/cmake/stacks.cmake)
convene_find_stacks()
message("found: ${{CONVENE_STACKS}}, ${{CONVENE_MPICC_openmpi}}, ${{CONVENE_MPICC_mpich}}")
"""


def find_stacks(root: Path, folder: Path, path: list[str], settings: str = "", **environment: str) -> str:
    """What the build says where `one` has MPICH's wrapper and `two` Open MPI's, both called mpicc."""
    for name, macro in (("one", "MPICH"), ("two", "OPEN_MPI")):
        place = folder / name / "bin"
        place.mkdir(parents=True)
        (place / "mpi.h").write_text(f"#define {macro} 1\n")
        (place / "mpicc").write_text(f"#!/bin/sh\necho cc -I{place}\n")
        (place / "mpicc").chmod(0o755)
    (folder / "cc").symlink_to(shutil.which("cc") or "cc")
    script = folder / "find.cmake"
    script.write_text(FIND_STACKS.format(folder=folder, root=root, settings=settings))
    places = ":".join(str(folder / name / "bin") for name in path)
    done = subprocess.run(
        [shutil.which("cmake") or "cmake", "-P", script],
        env={"PATH": f"{places}::{folder}", **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return " ".join(done.stderr.replace(str(folder), "").split())


def test_every_mpicc_in_path_is_looked_at(root: Path, tmp_path: Path) -> None:
    """As where a package is built: one MPI's wrapper is in front of the user's own."""
    said = find_stacks(root, tmp_path, ["one", "two"])
    assert "found: openmpi;mpich, /two/bin/mpicc, /one/bin/mpicc" in said


def test_a_prefix_may_bring_an_mpicc(root: Path, tmp_path: Path) -> None:
    said = find_stacks(root, tmp_path, ["one"], CMAKE_PREFIX_PATH=str(tmp_path / "two"))
    assert "found: openmpi;mpich, /two/bin/mpicc, /one/bin/mpicc" in said


@pytest.mark.parametrize("given", ["two/bin/mpicc", "./two/bin/mpicc", "{folder}/two/bin/mpicc"])
def test_an_mpicc_may_be_named(root: Path, tmp_path: Path, given: str) -> None:
    settings = f"set(CONVENE_MPICC_openmpi {given.format(folder=tmp_path)})"
    assert "found: openmpi;mpich, /two/bin/mpicc, " in find_stacks(root, tmp_path, ["one"], settings)


def test_an_mpicc_that_is_named_and_is_none_is_told(root: Path, tmp_path: Path) -> None:
    settings = "set(CONVENE_MPICC_openmpi /nowhere/mpicc)"
    said = find_stacks(root, tmp_path, ["one"], settings, CPATH=str(tmp_path / "two" / "bin"))
    assert "CONVENE_MPICC_openmpi='/nowhere/mpicc' is no compiler wrapper" in said
