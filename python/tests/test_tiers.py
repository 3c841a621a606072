# SPDX-License-Identifier: BSD-3-Clause
"""docs/tests.md lists the tests that are sampled, and those that only the tier long runs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tests.md").read_text()
NEVER = "\N{EN DASH}"
FILES = [path for folder in ("python/tests", "tests") for path in sorted((ROOT / folder).glob("test_*.py"))]


def module_marks(tree: ast.Module) -> str:
    """Source of the value of pytestmark."""
    values = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    names = [ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)]
    return "".join(
        ast.unparse(value) for name, value in zip(names, values, strict=True) if name == "pytestmark"
    )


def marked_tests() -> Iterator[tuple[str, str, ast.expr]]:
    """Name, marks of the module, and each decorator of all tests."""
    for path in FILES:
        tree = ast.parse(path.read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                for mark in node.decorator_list:
                    yield f"{path.relative_to(ROOT)}::{node.name}", module_marks(tree), mark


def test_sampled_tests_are_listed() -> None:
    rows = set[str]()
    for name, marks, mark in marked_tests():
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.sampled":
            cases = {each.arg: ast.literal_eval(each.value) for each in mark.keywords}
            first = NEVER if "pytest.mark.all" in marks else cases.get("default", NEVER)
            rows.add(f"| `{name}` | {first} | {cases['all']} |")
    assert rows
    assert set(re.findall(r"^\| `\S+::\S+` \|.*$", PAGE, re.MULTILINE)) == rows


def test_long_tests_are_listed() -> None:
    listed = PAGE[PAGE.index("Only in `long`:") :]
    names = {name for name, _, mark in marked_tests() if ast.unparse(mark) == "pytest.mark.long"}
    modules = {path for path in FILES if "pytest.mark.long" in module_marks(ast.parse(path.read_text()))}
    names |= {str(path.relative_to(ROOT)) for path in modules}
    assert names
    assert [name for name in sorted(names) if f"`{name}`" not in listed] == []
