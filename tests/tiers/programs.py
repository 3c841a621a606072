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
    report = request.reports / "pytest.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    status = run(
        request,
        *(BIN / "python", "-m", "pytest", "-q", "-ra", "--durations=10"),
        *(f"--junitxml={report}", "-m", MARKS[request.tier]),
    )
    return tally_of(report, "pytest", status)
