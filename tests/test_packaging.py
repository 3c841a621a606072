# SPDX-License-Identifier: BSD-3-Clause
"""Files for sites: modules are loaded by the tools that read them, recipes are parsed. No recipe is run.
The list of components is made for a package of invented files."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

LMOD = Path("/usr/share/lmod/lmod/libexec/lmod")
NAMES = re.compile(r"[a-z0-9][a-z0-9._-]*", re.IGNORECASE)


def set_in(text: str, name: str, value: str) -> str:
    """A module file with one of its settings changed."""
    changed, count = re.subn(
        rf'^(local {name} = )"[^"]*"|^(set {name} +)\S+',
        lambda found: f'{found[1]}"{value}"' if found[1] else f"{found[2]}{value}",
        text,
        flags=re.MULTILINE,
    )
    assert count == 1
    return changed


@pytest.mark.parametrize("kind", ["lua", "tcl"])
def test_modules_load(root: Path, tmp_path: Path, kind: str) -> None:
    module = shutil.which("modulecmd")
    if not LMOD.exists() and (module is None or kind == "lua"):
        pytest.skip("neither Lmod nor Environment Modules reads this file here")
    text = (root / "packaging" / "modulefiles" / f"convene.{kind}").read_text()
    for name, value in (("prefix", "/opt/c"), ("preload", "mpich"), ("wisdom", "/opt/w.json")):
        text = set_in(text, name, value)
    (tmp_path / "convene").mkdir()
    (tmp_path / "convene" / ("1.lua" if kind == "lua" else "1")).write_text(text)
    command = [str(LMOD)] if LMOD.exists() else [str(module)]
    done = subprocess.run(
        [*command, "bash", "load", "convene/1"],
        env={"MODULEPATH": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    package = "/opt/c/lib/python3.11/site-packages/convene"
    for line in (
        r"PATH=\"?/opt/c/bin:/usr/bin:/bin",
        rf"CONVENE_ROOT=\"?{package}",
        rf"LD_PRELOAD=\"?{package}/lib/libconvene-preload-mpich\.so",
        r"CONVENE_WISDOM=\"?/opt/w\.json",
    ):
        assert re.search(rf"\b{line}\b", done.stdout), (line, done.stdout, done.stderr)


def dependencies(root: Path) -> set[str]:
    """Names of the packages that Convene needs when it runs."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    found = {NAMES.match(each) for each in project["dependencies"]}
    return {name[0].lower() for name in found if name}


def test_the_recipe_of_spack_has_every_dependency(root: Path) -> None:
    tree = ast.parse((root / "packaging" / "spack" / "package.py").read_text())
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    needed = {
        ast.literal_eval(call.args[0]).split("@")[0]
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "depends_on"
    }
    assert {f"py-{name}" for name in dependencies(root)} <= needed
    assert {"mpi", "cmake", "fmt", "nlohmann-json", "cli11", "python"} <= needed


def test_the_easyconfig_is_read_by_python(root: Path) -> None:
    text = (root / "packaging" / "easybuild" / "convene-gompi.eb").read_text()
    values: dict[str, object] = {"SOURCE_TAR_GZ": "convene.tar.gz"}
    exec(compile(text, "convene-gompi.eb", "exec"), values)
    assert values["easyblock"] == "PythonPackage"
    assert values["name"] == "convene"
    needed = values["dependencies"]
    assert isinstance(needed, list)
    names = {name.lower() for name, _ in needed}
    # NumPy and SciPy are in one bundle, Rich and Jinja in another.
    assert dependencies(root) - names == {"numpy", "scipy", "rich", "jinja2"}
    assert {"scipy-bundle", "python-bundle-pypi"} <= names


@pytest.fixture(scope="module")
def sbom(root: Path) -> Any:
    spec = importlib.util.spec_from_file_location("sbom", root / "packaging" / "sbom.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["sbom"] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def invented_package(folder: Path, sbom: Any) -> Any:
    """Two libraries, one with {fmt} 9 and nlohmann_json 3.11.2, and headers of these versions."""
    headers = folder / "headers"
    for path, text in (
        ("fmt/core.h", "#define FMT_VERSION 90100\n"),
        (
            "nlohmann/detail/abi_macros.hpp",
            "".join(
                f"#define NLOHMANN_JSON_VERSION_{part} {number} // a part\n"
                for part, number in (("MAJOR", 3), ("MINOR", 11), ("PATCH", 2))
            ),
        ),
    ):
        (headers / path).parent.mkdir(parents=True)
        (headers / path).write_text(text)
    (folder / "wheel" / "convene" / "lib").mkdir(parents=True)
    code = b"\x7fELF..N3fmt2v912format_errorE..N8nlohmann16json_abi_v3_11_26detail9exceptionE"
    (folder / "wheel" / "convene" / "lib" / "one.so").write_bytes(code)
    (folder / "wheel" / "convene" / "lib" / "two.so").write_bytes(b"\x7fELF....")
    (folder / "wheel" / "convene" / "text.py").write_bytes(b"N3CLI10ParseErrorE")  # no program
    return sbom.Sources(headers, folder)


def test_components_are_those_in_the_files(sbom: Any, tmp_path: Path) -> None:
    sources = invented_package(tmp_path, sbom)
    listed = sbom.describe(tmp_path / "wheel", "1.2", sources)
    libraries = [each for each in listed["components"] if each["type"] == "library"]
    assert [(each["name"], each["version"]) for each in libraries] == [
        ("fmt", "9.1.0"),
        ("nlohmann_json", "3.11.2"),
    ]
    assert all(each["licenses"] == [{"license": {"id": "MIT"}}] for each in libraries)
    assert libraries[0]["evidence"] == {"occurrences": [{"location": "convene/lib/one.so"}]}
    files = [each["name"] for each in listed["components"] if each["type"] == "file"]
    assert files == ["convene/lib/one.so", "convene/lib/two.so"]
    assert listed == sbom.describe(tmp_path / "wheel", "1.2", sources)


def test_a_component_of_another_version_ends_the_build(sbom: Any, tmp_path: Path) -> None:
    sources = invented_package(tmp_path, sbom)
    (tmp_path / "headers" / "fmt" / "core.h").write_text("#define FMT_VERSION 100200\n")
    with pytest.raises(SystemExit, match=r"one\.so has fmt 9, but the headers are those of 10\.2\.0"):
        sbom.describe(tmp_path / "wheel", "1.2", sources)
