# SPDX-License-Identifier: BSD-3-Clause
"""The layers of the Python package: packages import downwards, no cycles, short functions and modules.

All imports count: those within functions and those for type checkers, too.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "convene"

# From the lowest to the highest. A package imports packages before it, and `_core` and the root's version.
LAYERS = (
    "base",  # paths, console, parsing, text, types of _core
    "catalogue",  # collectives and algorithms
    "stats",  # intervals, tests, arrival statistics
    "plots",  # Matplotlib style and axes
    "mpi",  # stacks, launchers, processes
    "cluster",  # emulated nodes
    "verify",  # symbolic checks
    "simulate",  # platforms, cases, sweeps, SMPI
    "model",  # fits, predictions, winners
    "bench",  # measurements and their reports
    "tune",  # measured choices and wisdom files
    "rules",  # rules files of MPIs: checked, written, explained
    "info",  # the machine and its MPIs
    "trace",  # recordings and lateness
    "run",  # unmodified programs, profiles
    "advise",  # what a program would gain
    "studies",  # experiments of the sources
    "selftest",  # acceptance of an installation
    "cli",  # application, options, commands
    "operations",  # the module for programs that use mpi4py
    "__main__",
)

MOST_LINES = 350  # of a module
MOST_LINES_OF_FUNCTION = 60

Sources = Mapping[str, str]  # by module's name, without "convene."
Graph = dict[str, set[str]]


def read(package: Path) -> dict[str, str]:
    """The sources of all modules; a package is called as its folder, the root is ""."""
    found = {}
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = [*path.relative_to(package).with_suffix("").parts]
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        found[".".join(parts)] = path.read_text(encoding="utf-8")
    return found


def imported_names(source: str, module: str) -> Iterator[str]:
    """Every module of Convene that may be imported, wherever the import stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def resolve(name: str, known: Sources) -> str | None:
    """The module that an imported name is, or is in; None for modules of others. Not the root: everything
    needs that."""
    head, _, rest = name.partition(".")
    if head != "convene":
        return None
    while rest and rest not in known:
        rest = rest.rpartition(".")[0]
    return rest or None


def graph_of(sources: Sources) -> Graph:
    return {
        module: {found for name in imported_names(text, module) if (found := resolve(name, sources))}
        for module, text in sources.items()
    }


def cycles(graph: Graph) -> list[list[str]]:
    """Every module on a cycle, with the way back to itself."""
    found = []
    for start in graph:
        ways = [[start]]
        seen = set()
        while ways:
            way = ways.pop()
            for following in sorted(graph.get(way[-1], ())):
                if following == start:
                    found.append([*way, start])
                elif following not in seen:
                    seen.add(following)
                    ways.append([*way, following])
    return found


def layer(module: str) -> str:
    return module.partition(".")[0]


def upward(graph: Graph, layers: tuple[str, ...] = LAYERS) -> list[str]:
    """Imports of a package that does not stand below."""
    rank = {name: place for place, name in enumerate(layers)}
    return [
        f"{module} imports {target}"
        for module, targets in graph.items()
        for target in sorted(targets)
        if layer(module) in rank and layer(target) in rank and rank[layer(target)] > rank[layer(module)]
    ]


def long_functions(module: str, source: str) -> list[str]:
    return [
        f"{module}.{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > MOST_LINES_OF_FUNCTION
    ]


SOURCES = read(PACKAGE)
GRAPH = graph_of(SOURCES)

ROOT = PACKAGE.parents[1]
SCRIPTS = sorted(
    path for folder in ("benchmarks", "examples", "docs/ext") for path in (ROOT / folder).rglob("*.py")
)


def test_every_module_has_a_layer() -> None:
    assert {layer(module) for module in SOURCES} - {"", "_core"} == set(LAYERS)


def test_packages_import_downwards() -> None:
    assert upward(GRAPH) == []
    # What all import, imports types alone.
    assert GRAPH["_core"] <= {"base.core_types"}
    assert GRAPH["base.core_types"] == set()
    assert GRAPH[""] == {"_core"}


def test_no_cycles() -> None:
    assert cycles(GRAPH) == []


@pytest.mark.parametrize("module", SOURCES)
def test_functions_and_modules_are_short(module: str) -> None:
    assert long_functions(module, SOURCES[module]) == []
    assert len(SOURCES[module].splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_short_too(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert long_functions(path.name, text) == []
    assert len(text.splitlines()) <= MOST_LINES


IN_FUNCTION = "def f() -> None:\n    from convene.base import b\n"
FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from convene.base.a import A\n"


def test_cycles_are_found() -> None:
    """Also where one import is within a function, and the other for the type checker."""
    found = cycles(graph_of({"base": "", "base.a": IN_FUNCTION, "base.b": FOR_TYPES, "base.c": FOR_TYPES}))
    assert found == [["base.a", "base.b", "base.a"], ["base.b", "base.a", "base.b"]]


@pytest.mark.parametrize("text", ["import convene.cli.app", "from convene.cli.app import app", IN_FUNCTION])
def test_upward_imports_are_found(text: str) -> None:
    sources = {"base.a": text, "base.b": "from convene.cli import app", "cli.app": "", "cli": ""}
    assert "base.b imports cli.app" in upward(graph_of(sources))
    assert ("base.a imports cli.app" in upward(graph_of(sources))) == ("cli" in text)


def test_long_functions_are_found() -> None:
    body = "    pass\n" * MOST_LINES_OF_FUNCTION
    assert long_functions("m", f"def f():\n{body}") == ["m.f: 61 lines"]
    assert long_functions("m", f"class C:\n  def f():\n{body[9:]}") == []
