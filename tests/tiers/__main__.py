# SPDX-License-Identifier: BSD-3-Clause
"""Runs the parts of a tier: python -m tests.tiers [all|long] [PART ...]"""

import argparse
import os
import sys
import time
from threading import Thread

from tests.tiers import analysis, conformance, emulation, fuzzing, journal, programs, sanitizing, style
from tests.tiers.running import TIERS, MissingError, Part, Request, Tally, say

# In the order in which they are run: what fails soon first.
PARTS: dict[str, Part] = {
    "format": style.form,
    "python": style.python,
    "docs": style.docs,
    "unit": programs.unit,
    "pytest": programs.pytest,
    "includes": analysis.includes,
    "lint": analysis.lint,
    "sanitize": sanitizing.sanitize,
    "fuzz": fuzzing.fuzz,
    "threads": analysis.threads,
    "aarch64": emulation.aarch64,
    **conformance.PARTS,
}
OF_DEFAULT = ("format", "python", "docs", "unit", "pytest")
OF_TIER = {
    "default": OF_DEFAULT,
    "all": (*OF_DEFAULT, "includes", "lint", "sanitize", "fuzz", "threads"),
    "long": tuple(PARTS),
}


def read_request(words: list[str]) -> tuple[Request, list[str], argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="all|long|PART", help=f"parts: {', '.join(PARTS)}")
    parser.add_argument(
        "--seed",
        type=int,
        default=int(os.environ.get("CONVENE_TEST_SEED") or journal.default_seed()),
        help="which of the sampled tests are run (CONVENE_TEST_SEED; default: by the commit)",
    )
    parser.add_argument(
        "--restart", action="store_true", help="long: run parts again that passed at this commit"
    )
    parser.add_argument(
        "--results", action="store_true", help="print the last results of the tier long and end"
    )
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)  # the words only
    options = parser.parse_args(words)
    tier = "default"
    if options.words and options.words[0] in TIERS:
        tier = options.words.pop(0)
    for word in options.words:
        if word not in PARTS:
            parser.error(f"no part of the tests is called '{word}'; there are: {', '.join(PARTS)}")
    jobs = int(os.environ.get("CONVENE_JOBS") or os.cpu_count() or 1)
    return Request(tier, options.seed, jobs), options.words or list(OF_TIER[tier]), options


def run_part(name: str, request: Request) -> Tally:
    say(name)
    try:
        return PARTS[name](request)
    except MissingError as error:
        return Tally(failed=1, failures=[f"{name}: {error}"])


def summarize(total: Tally, times: dict[str, float], request: Request) -> None:
    say("summary")
    for failure in total.failures:
        print(f"failed: {failure}")
    print("seconds: " + ", ".join(f"{name} {seconds:.0f}" for name, seconds in times.items()))
    print(f"seed: {request.seed} (CONVENE_TEST_SEED={request.seed} repeats the sample)")
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    print(f"{total.passed} passed, {total.failed} failed{skipped}")


def main() -> None:
    request, parts, options = read_request(sys.argv[1:])
    if options.check:
        return
    log = journal.Journal(request.build / "tests" / "long.jsonl")
    if options.results:
        print(log.table())
        return
    at = journal.commit()
    total, times = Tally(), dict[str, float]()
    builds: Thread | None = None
    for name in parts:
        if request.tier == "long" and not options.restart and (entry := log.passed(name, at)):
            say(f"{name}: passed at {at} on {entry.ended}")
            continue
        began = time.monotonic()
        if name == "pytest":
            builds = analysis.start_builds(request, parts)
        elif builds:
            builds.join()
        tally = run_part(name, request)
        times[name] = time.monotonic() - began
        total.add(tally)
        if request.tier == "long":
            log.add(name, at, request.seed, tally, times[name])
    summarize(total, times, request)
    sys.exit(1 if total.failed else 0)


if __name__ == "__main__":
    main()
