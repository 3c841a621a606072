# SPDX-License-Identifier: BSD-3-Clause
"""The C++ unit tests, and pytest."""

from collections.abc import Mapping
from pathlib import Path

from tests.tiers.reports import tally_of
from tests.tiers.running import BIN, Request, Tally, run

# Which of pytest's tests each tier runs; pyproject.toml explains the marks.
MARKS = {"default": "not all and not long", "all": "not long", "long": ""}


def ctest(
    request: Request, name: str, build: Path, *options: str, variables: Mapping[str, str] | None = None
) -> Tally:
    """Tests of a build folder, in as many processes as there are jobs."""
    report = request.reports / f"{name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    status = run(
        request,
        *("ctest", "--test-dir", build, "-j", str(request.jobs), "--timeout", "900"),
        *("--quiet", "--output-junit", report, "--no-tests=error"),
        *options,
        quiet=True,
        variables=variables,
    )
    return tally_of(report, name, status)


def unit(request: Request) -> Tally:
    return ctest(request, "unit", request.build)


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
