# SPDX-License-Identifier: BSD-3-Clause
"""The C++ unit tests, and pytest."""

from tests.tiers.reports import tally_of
from tests.tiers.running import BIN, Request, Tally, run
from tests.tiers.unit_tests import programs_of, run_programs

# Which of pytest's tests each tier runs; pyproject.toml explains the marks.
MARKS = {"default": "not all and not long", "all": "not long", "long": ""}


def unit(request: Request) -> Tally:
    return run_programs(request, "unit", programs_of(request.build))


def pytest(request: Request) -> Tally:
    """Tests of the package in as many processes as there are jobs; then those of real MPI runs, one after the
    other, since each takes all cores."""
    tally = run_pytest(request, "python/tests", "-n", str(request.jobs), "--dist", "worksteal")
    tally.add(run_pytest(request, "tests"))
    return tally


def run_pytest(request: Request, folder: str, *options: str) -> Tally:
    report = request.reports / f"pytest-{folder.replace('/', '-')}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = (BIN / "python", "-m", "pytest", "-q", "-ra", "--durations=10")
    status = run(request, *command, *options, f"--junitxml={report}", "-m", MARKS[request.tier], folder)
    return tally_of(report, f"pytest of {folder}", status)
