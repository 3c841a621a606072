# SPDX-License-Identifier: BSD-3-Clause
"""The package that `./dev wheel` builds, in an environment of its own: no symbol is too new, and it works."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]  # compiles everything once more

NEWEST = (2, 28)


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=3000, check=False
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(root / "dev", "wheel", "-o", folder, PYTHON=sys.executable)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def packages(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Site packages of an environment with the wheel and what it depends on."""
    home = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", home)
    run(home / "bin" / "pip", "install", "--quiet", wheel)
    (found,) = home.glob("lib/python*/site-packages")
    return found


def test_its_name_says_where_it_runs(wheel: Path) -> None:
    assert re.search(r"-manylinux_2_28_\w+\.whl$", wheel.name)


def test_no_symbol_is_too_new(packages: Path) -> None:
    binaries = [
        path
        for path in (packages / "convene").rglob("*")
        if path.is_file() and path.open("rb").read(4) == b"\x7fELF"
    ]
    assert len(binaries) > 10
    for path in binaries:
        versions = re.findall(r"GLIBC_([0-9.]+)", run("objdump", "-T", path))
        assert max(tuple(map(int, version.split("."))) for version in versions) <= NEWEST, path


def test_its_libraries_need_libc_and_the_loader_only(packages: Path) -> None:
    of_libc = re.compile(r"lib(c|pthread|dl|rt|m)\.so\.\d|ld-linux[-\w]*\.so\.\d")
    libraries = [*(packages / "convene" / "lib").glob("*.so")]
    assert libraries
    for library in libraries:
        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))
        assert [name for name in needed if not of_libc.fullmatch(name)] == []


def test_its_components_are_listed(packages: Path) -> None:
    (path,) = packages.glob("convene-*.dist-info/sboms/convene.cdx.json")
    listed = json.loads(path.read_text())["components"]
    libraries = {each["name"]: each for each in listed if each["type"] == "library"}
    assert {"fmt", "nlohmann_json", "CLI11", "nanobind", "libc++"} <= libraries.keys()
    for each in libraries.values():
        assert all((packages / place["location"]).is_file() for place in each["evidence"]["occurrences"])


@pytest.mark.parametrize("stack", ["openmpi", "mpich"])
def test_it_runs_programs_and_measures(packages: Path, root: Path, stack: str, tmp_path: Path) -> None:
    convene = packages.parents[2] / "bin" / "convene"
    launcher = f"mpirun.{stack}"
    program = root / "build" / "tests" / stack / "late"
    said = run(convene, "run", "--use", "allgather=ring", "--", launcher, "-n", "2", program, "1", "1", "20")
    assert "ring" in said
    result = tmp_path / "result.json"
    words = ("bench", "run", "allgather", "-n", "2", "--sizes", "64", "--algorithms", "ring", "-o", result)
    run(convene, *words, "--launcher", launcher)
    assert "ring" in result.read_text()
