# SPDX-License-Identifier: BSD-3-Clause
"""Lines and branches of src/ that a tier reaches: python -m tests.tiers.coverage [all|long]

The package is used with a module that has counters, too."""

import sys
from pathlib import Path

from tests.tiers.programs import MARKS
from tests.tiers.running import BIN, ROOT, TIERS, Request, run, tool
from tests.tiers.unit_tests import programs_of, run_programs


def link_package(folder: Path) -> Path:
    """Makes links to all of the package but the module, which the build puts beside them. Returns the folder
    for PYTHONPATH."""
    package = folder / "python" / "convene"
    package.mkdir(parents=True, exist_ok=True)
    for path in (ROOT / "python" / "convene").iterdir():
        link = package / path.name
        if not path.name.startswith("_core.cpython") and path.name != "__pycache__" and not link.is_symlink():
            link.symlink_to(path)
    return package.parent


def main() -> None:
    tier = sys.argv[1] if len(sys.argv) > 1 else "default"
    if tier not in TIERS:
        print(f"coverage: no tier is called '{tier}'; there are: {', '.join(TIERS)}", file=sys.stderr)
        sys.exit(2)
    request = Request(tier, seed=1, jobs=2)
    folder = request.build / "coverage"
    variables = {"CONVENE_BUILD": str(folder), "PYTHONPATH": str(link_package(folder))}
    if run(request, "cmake", "--preset", "coverage", quiet=True) != 0:
        sys.exit(1)
    if run(request, "cmake", "--build", folder, "-j", str(request.jobs)) != 0:
        sys.exit(1)
    for counts in folder.rglob("*.gcda"):
        counts.unlink()
    run_programs(request, "coverage", programs_of(folder))
    pytest = (BIN / "python", "-m", "pytest", "-q", "-m", MARKS[tier])
    run(request, *pytest, "-n", str(request.jobs), "python/tests", variables=variables)
    run(request, *pytest, "tests", variables=variables)
    gcovr = (tool("gcovr"), "--root", ".", "--filter", "src/", "--exclude", r".*_test\.[ch]pp")
    report = folder / f"coverage-{tier}.txt"
    status = run(request, *gcovr, "--exclude-throw-branches", "--print-summary", "--output", report, folder)
    print(f"by file: {report}")
    sys.exit(status)


if __name__ == "__main__":
    main()
