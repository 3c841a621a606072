# SPDX-License-Identifier: BSD-3-Clause
"""Form of the sources, types and documentation. `python -m tests.tiers.style` brings sources into form."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.tiers.running import BIN, ROOT, Request, Tally, check, sources

FOLDERS = ("src", "include", "tools", "tests", "python/binding", "benchmarks", "examples")


def cpp_sources() -> list[str]:
    return [str(path) for path in sources(FOLDERS, (".cpp", ".hpp", ".c", ".h"))]


def form(request: Request) -> Tally:
    return check(request, "C++ formatting", "clang-format", "--dry-run", "-Werror", *cpp_sources())


def python(request: Request) -> Tally:
    """Style, then types: those of the package's tests apart, as both folders are called `tests`."""
    folders = [
        name
        for name in (
            *("python/convene", "tests", "examples", "benchmarks"),
            *("packaging/commands.py", "packaging/wheel.py", "packaging/deb.py"),
        )
        if (ROOT / name).is_file() or any((ROOT / name).rglob("*.py"))
    ]
    tests = (BIN / "mypy", "--cache-dir", request.build / "tests" / "mypy", "python/tests")
    checks: list[tuple[str, tuple[str | Path, ...]]] = [
        ("Python types", (BIN / "mypy", *folders)),
        ("Python types of the package's tests", tests),
        ("Python style", (BIN / "ruff", "check", "--quiet", ".")),
        ("Python formatting", (BIN / "ruff", "format", "--check", "--quiet", ".")),
    ]
    tally = Tally()
    with ThreadPoolExecutor(request.jobs) as pool:
        for done in pool.map(lambda each: check(request, each[0], *each[1]), checks):
            tally.add(done)
    return tally


def docs(request: Request) -> Tally:
    sphinx = (BIN / "python", "-m", "sphinx", "-W", "--keep-going", "-q", "-j", str(request.jobs))
    return check(request, "documentation", *sphinx, "-b", "html", "docs", request.build / "docs")


def main() -> None:
    for command in (
        ["clang-format", "-i", *cpp_sources()],
        [str(BIN / "ruff"), "check", "--fix", "--quiet", "."],
        [str(BIN / "ruff"), "format", "--quiet", "."],
    ):
        subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
