# SPDX-License-Identifier: BSD-3-Clause
"""Tallies of test reports in JUnit's form, which GoogleTest and pytest write."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tests.tiers.running import Tally


def tally_of(report: Path, name: str, status: int) -> Tally:
    """Numbers of a report. A program that died, or never reported, has failed whatever else it said."""
    tally = Tally()
    if report.is_file():
        for case in ElementTree.parse(report).iter("testcase"):
            outcome = {child.tag for child in case}
            if outcome & {"failure", "error"}:
                tally.failed += 1
                tally.failures.append(f"{name}: {case.get('classname', '')}::{case.get('name')}")
            elif "skipped" in outcome:
                tally.skipped += 1
            else:
                tally.passed += 1
    if status != 0 and not tally.failed:
        tally.failed = 1
        tally.failures.append(f"{name}: ended with status {status}")
    return tally
