# SPDX-License-Identifier: BSD-3-Clause
"""The C++ unit tests, and pytest."""

from tests.tiers.reports import tally_of
from tests.tiers.running import BIN, Request, Tally, run
from tests.tiers.unit_tests import programs_of, run_programs

MEASURING = "python/tests/test_bench_real.py"  # tests beside it would delay its ranks
# Which of pytest's tests each tier runs; pyproject.toml explains the marks.
MARKS = {"default": "not all and not long", "all": "not long", "long": ""}


def unit(request: Request) -> Tally:
    return run_programs(request, "unit", programs_of(request.build))


def pytest(request: Request) -> Tally:
    """Tests of the package in as many processes as there are jobs; then those of real MPI runs, one after the
    other, since each takes all cores."""
    workers = ("-n", str(request.jobs), "--dist", "worksteal")
    tally = run_pytest(request, "package", *workers, f"--ignore={MEASURING}", "python/tests")
    tally.add(run_pytest(request, "runs", MEASURING, "tests"))
    return tally


def run_pytest(request: Request, name: str, *words: str) -> Tally:
    report = request.reports / f"pytest-{name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = (BIN / "python", "-m", "pytest", "-q", "-ra", "--durations=10")
    status = run(request, *command, f"--junitxml={report}", "-m", MARKS[request.tier], *words)
    return tally_of(report, f"pytest of {name}", status)
