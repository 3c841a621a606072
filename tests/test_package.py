# SPDX-License-Identifier: BSD-3-Clause
"""`pip install .` gives the whole `convene` command: module, libraries and tools in one package."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.all, pytest.mark.timeout(1800)]  # builds a package for all stacks


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=1500, check=False
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root: Path, build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with the checkout's own tools, in a folder that is kept, so that a second time is quick. What the
    checkout's build has compiled in the same way comes from the compiler cache, for which the folder must be
    as deep as that of the build."""
    folder = tmp_path_factory.mktemp("wheel")
    options = [f"-Cbuild-dir={build}-wheel", f"-Ccmake.define.CONVENE_STACKS_DIR={root / '.stacks'}"]
    for name in ("C_COMPILER", "CXX_COMPILER", "C_COMPILER_LAUNCHER", "CXX_COMPILER_LAUNCHER"):
        known = re.search(f"^CMAKE_{name}:.*=(.*)", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
        options += [f"-Ccmake.define.CMAKE_{name}={known[1]}"] if known else []
    if "CI" in os.environ:
        options.append("-Ccmake.define.CONVENE_WERROR=ON")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    run(*pip, *options, "-w", folder, root, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing of the checkout in it, which borrows the dependencies of the checkout's."""
    home = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", home)
    pip = (sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "--quiet")
    run(*pip, "--no-deps", "--no-index", wheel)
    (packages,) = home.glob("lib/python*/site-packages")
    checkout = Path(sys.executable).parent.parent
    (dependencies,) = checkout.glob("lib/python*/site-packages")
    # Appended to the path and not a .pth folder: the checkout's own .pth file is not to be read.
    (packages / "dependencies.pth").write_text(f"{dependencies}\n")
    return home / "bin" / "convene"


def test_the_wheel_is_complete(wheel: Path, build: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    libraries = {path.name for path in (build / "lib").glob("libconvene-*.so")}
    assert {f"convene/lib/{name}" for name in libraries} <= names
    assert "convene/include/convene/convene.h" in names
    assert "convene/py.typed" in names
    assert [name for name in names if name.endswith(".data/data/share/man/man1/convene-run.1")]
    assert [name for name in names if name.startswith("convene/_core.") and name.endswith(".so")]
    strangers = [name for name in names if not name.startswith(("convene/", "convene-"))]
    assert strangers == []


def test_nothing_in_the_wheel_names_this_machine(wheel: Path, root: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    binaries = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and (path.parent.name in {"lib", "mpich", "bin"} or path.suffix == ".so")
    ]
    assert any(path.name == "libmpich.so.12" for path in binaries)
    for path in binaries:
        places = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", run("readelf", "-d", path))
        assert [
            place for place in ":".join(places).split(":") if place and not place.startswith("$ORIGIN")
        ] == []


def test_the_installed_command_works(installed: Path, root: Path, tmp_path: Path) -> None:
    source = run(
        installed.with_name("python"), "-c", "import convene; print(convene.__file__)", PYTHONPATH=""
    )
    assert str(root) not in source
    assert "sparbit" in run(installed, "list", "allgather")
    assert run(installed, "verify", "allgather", "sparbit", "--procs", "1-9")


def test_the_installed_command_runs_programs(installed: Path, build: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    source = tmp_path / "program.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(int argc, char** argv) {\n"
        "  int rank, all[64];\n"
        "  MPI_Init(&argc, &argv);\n"
        "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
        "  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);\n"
        '  if (rank == 0) printf("last %d\\n", all[2]);\n'
        "  return MPI_Finalize();\n"
        "}\n"
    )
    run("mpicc.openmpi", source, "-o", program)
    said = run(installed, "run", "--use", "allgather=sparbit", "--", "mpirun.openmpi", "-n", "3", program)
    assert "last 2" in said
