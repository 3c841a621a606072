# SPDX-License-Identifier: BSD-3-Clause
"""Prints "PASSED FAILED SKIPPED" for one test report: GoogleTest's JSON or JUnit's XML."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def tally_json(report: Path) -> tuple[int, int, int]:
    content = json.loads(report.read_text())
    cases = [case for suite in content["testsuites"] for case in suite["testsuite"]]
    skipped = sum(case["result"] == "SKIPPED" for case in cases)
    failed = sum("failures" in case for case in cases)
    ran = sum(case["status"] == "RUN" for case in cases)
    return ran - failed - skipped, failed, skipped


def tally_xml(report: Path) -> tuple[int, int, int]:
    suites = list(ElementTree.parse(report).iter("testsuite"))

    def total(attribute: str) -> int:
        return sum(int(suite.get(attribute, "0")) for suite in suites)

    failed, skipped = total("failures") + total("errors"), total("skipped")
    return total("tests") - failed - skipped, failed, skipped


def main() -> None:
    report = Path(sys.argv[1])
    print(*(tally_json if report.suffix == ".json" else tally_xml)(report))


if __name__ == "__main__":
    main()
