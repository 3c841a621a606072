# SPDX-License-Identifier: BSD-3-Clause
"""The recipe of the Debian packages, without a build: fields, versions, file lists."""

import fnmatch
import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

# What `cmake --install` and debian/rules put together, of each kind one.
FILES = {
    "usr/lib/x86_64-linux-gnu/libconvene-mpich.so.0.2.0": "libconvene0",
    "usr/lib/x86_64-linux-gnu/libconvene-mpich.so.0": "libconvene0",
    "usr/lib/x86_64-linux-gnu/libconvene0/libconvene-preload-mpich.so": "libconvene0",
    "usr/lib/x86_64-linux-gnu/libconvene0/mpich/libmpich.so.12": "libconvene0",
    "usr/lib/x86_64-linux-gnu/libconvene-mpich.so": "libconvene-dev",
    "usr/lib/x86_64-linux-gnu/pkgconfig/convene-mpich.pc": "libconvene-dev",
    "usr/lib/x86_64-linux-gnu/cmake/convene/conveneConfig.cmake": "libconvene-dev",
    "usr/include/convene/convene.h": "libconvene-dev",
    "usr/lib/x86_64-linux-gnu/convene/openmpi/mca_coll_convene.so": "mca-coll-convene",
    "usr/lib/x86_64-linux-gnu/convene/openmpi/mca_hook_convene.so": "mca-coll-convene",
    "usr/bin/convene": "convene",
    "usr/lib/python3/dist-packages/convene/__init__.py": "convene",
    "usr/lib/python3/dist-packages/convene/bin/convene-bench-mpich": "convene",
    "usr/share/man/man1/convene-run.1": "convene",
    "usr/share/man/man7/libconvene.7": "convene",
    "usr/share/bash-completion/completions/convene": "convene",
    "usr/share/zsh/vendor-completions/_convene": "convene",
    "usr/share/fish/vendor_completions.d/convene.fish": "convene",
}


@pytest.fixture(scope="module")
def recipe(root: Path) -> Path:
    return root / "packaging" / "debian"


@pytest.fixture(scope="module")
def deb(root: Path) -> Any:
    spec = importlib.util.spec_from_file_location("deb", root / "packaging" / "deb.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(root / "packaging"))  # as when it is run
    spec.loader.exec_module(module)
    sys.path.pop(0)
    return module


def paragraphs(control: str) -> list[dict[str, str]]:
    """The fields of each paragraph, with their lines joined."""
    found = []
    for text in re.split(r"\n{2,}", control.strip()):
        fields = re.findall(r"^([\w-]+): *(.*(?:\n[ \t].*)*)", text, re.MULTILINE)
        found.append({name: " ".join(value.split()) for name, value in fields})
    return found


def minimums(field: str) -> dict[str, str]:
    """The packages of a field that have a least version, without an epoch."""
    return dict(re.findall(r"([\w.-]+) \(>= (?:\d+:)?([\d.]+)\)", field))


def test_control_has_every_package(recipe: Path, deb: Any) -> None:
    source, *packages = paragraphs((recipe / "control").read_text())
    assert source["Source"] == "convene"
    assert [each["Package"] for each in packages] == list(deb.NAMES)
    for each in packages:
        assert {"Architecture", "Depends", "Description"} <= each.keys()
        assert "${misc:Depends}" in each["Depends"]
    alone = {"libconvene0", "mca-coll-convene"}
    for each in (each for each in packages if each["Package"] not in alone):
        assert "libconvene0 (= ${binary:Version})" in each["Depends"]


def test_versions_of_dependencies_are_those_of_the_python_package(root: Path, recipe: Path, deb: Any) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    needed = {
        f"python3-{name}": least for name, _, least in (d.partition(">=") for d in project["dependencies"])
    }
    typer = needed.pop("python3-typer")
    source, *_, command = paragraphs((recipe / "control").read_text())
    assert minimums(command["Depends"]) == needed
    assert minimums((recipe / "rules").read_text()) == {"python3-typer": typer}
    built_with = minimums(source["Build-Depends"])
    assert (
        built_with.items()
        >= {**{n: needed[n] for n in built_with.keys() & needed}, "python3-typer": typer}.items()
    )
    assert deb.numbers(f"Version: {deb.TYPER.partition('==')[2]}") >= deb.numbers(f"Version: {typer}")


def test_each_file_is_in_one_package(root: Path, recipe: Path) -> None:
    lists = {path.stem: path.read_text().split() for path in recipe.glob("*.install")}
    for name, package in FILES.items():
        # debhelper's patterns name files or folders; * does not match a slash there.
        parts = name.split("/")
        paths = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        owners = {
            owner
            for owner, patterns in lists.items()
            if any(
                fnmatch.fnmatch(p, each) and p.count("/") == each.count("/")
                for p in paths
                for each in patterns
            )
        }
        assert owners == {package}, name
    for pattern in (each for patterns in lists.values() for each in patterns):
        assert any(
            fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, f"{pattern}/*") for name in FILES
        ), pattern


def test_the_library_package_has_the_soname(root: Path, recipe: Path, deb: Any) -> None:
    major = deb.version().partition(".")[0]
    assert f"Package: libconvene{major}\n" in (recipe / "control").read_text()
    assert f"preload = $(libraries)/libconvene{major}\n" in (recipe / "rules").read_text()
    assert "SOVERSION ${PROJECT_VERSION_MAJOR}" in (root / "cmake" / "install.cmake").read_text()


def test_sources_have_the_version_and_no_old_files(root: Path, tmp_path: Path, deb: Any) -> None:
    old = tmp_path / "src" / "base" / "no_longer_there.cpp"
    old.parent.mkdir(parents=True)
    old.write_text("")
    deb.copy_sources(tmp_path)
    assert not old.exists()
    assert (tmp_path / "CMakeLists.txt").read_text() == (root / "CMakeLists.txt").read_text()
    assert not (tmp_path / "build").exists()
    log = (tmp_path / "debian" / "changelog").read_text()
    assert log.startswith(f"convene ({deb.version()}) ")
    assert f"project(convene VERSION {deb.version()} " in (root / "CMakeLists.txt").read_text()
    assert re.search(
        r"^ -- The Convene authors <\S+@\S+>  \w{3}, \d\d \w{3} \d{4} [\d:]{8} [+-]\d{4}$", log, re.M
    )


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("Package: python3-typer\nVersion: 0.7.0-1\n", (0, 7, 0)),
        ("Version: 1:1.24.2-1+deb12u1\n", (1, 24, 2)),
        ("", (0,)),
    ],
)
def test_versions_are_read(deb: Any, shown: str, expected: tuple[int, ...]) -> None:
    assert deb.numbers(shown) == expected
