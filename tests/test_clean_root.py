# SPDX-License-Identifier: BSD-3-Clause
"""The package of `./dev wheel` on Debian 12 without compilers, with the distribution's Python and MPI."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import clean_root
from tests.clean_root import PROGRAM, Root

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]  # makes the root and compiles the package, once


@pytest.fixture(scope="module")
def wheels(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and what it depends on."""
    if reason := clean_root.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("wheels")
    environment = {**os.environ, "PYTHON": sys.executable}
    subprocess.run([root / "dev", "wheel", "-o", folder], check=True, env=environment)
    pip = (sys.executable, "-m", "pip", "download", "-q", "-d", folder)
    subprocess.run([*pip, *folder.glob("*.whl")], check=True)
    return folder


@pytest.fixture(scope="module")
def debian(build: Path, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    base = clean_root.made(build / "debian-12")
    with clean_root.opened(base, tmp_path_factory.mktemp("debian")) as found:
        shutil.copytree(wheels, found.folder / "wheels")
        (found.folder / "program.py").write_text(PROGRAM)
        yield found


@pytest.fixture(scope="module")
def convene(debian: Root) -> str:
    """The command, installed from files alone."""
    for compiler in ("cc", "gcc", "c++", "g++", "clang"):
        debian.run("sh", "-c", f"command -v {compiler}", status=127)
    debian.run("python3", "-m", "venv", "/opt/convene")
    debian.run("/opt/convene/bin/pip", "install", "-q", "--no-index", "--find-links", "/wheels", "convene")
    return "/opt/convene/bin/convene"


def test_run(debian: Root, convene: str) -> None:
    launch = ("mpirun.openmpi", "-n", "2", "/usr/bin/python3", "/program.py")
    said = debian.run(convene, "run", "--stack", "openmpi", "--use", "allgather=ring", "--", *launch)
    assert "ranks [0, 1] Open MPI" in said
    assert re.search(r"allgather\w* .*ring", said)


@pytest.mark.parametrize("launcher", ["mpirun.openmpi", "mpiexec.mpich"])
def test_bench(debian: Root, convene: str, launcher: str) -> None:
    words = ("allgather", "-n", "2", "--sizes", "64", "--algorithms", "ring", "-o", f"/{launcher}.json")
    debian.run(convene, "bench", "run", *words, "--launcher", launcher)
    assert "ring" in (debian.folder / f"{launcher}.json").read_text()


def test_tune(debian: Root, convene: str) -> None:
    words = ("allgather", "-n", "2", "--sizes", "64,1024", "--budget", "30s", "--launcher", "mpirun.openmpi")
    assert "native" in debian.run(convene, "tune", *words, CONVENE_WISDOM="/tmp/wisdom.json")


def test_what_needs_no_mpi(debian: Root, convene: str) -> None:
    assert "ring" in debian.run(convene, "show", "allgather", "ring", "-p", "4")
    words = ("allgather", "--platform", "yahoo", "-p", "4", "--sizes", "8", "--algorithms", "ring")
    assert "ring" in debian.run(convene, "simulate", "sweep", *words)
    assert (debian.folder / "opt/convene/share/man/man1/convene-run.1").is_file()
