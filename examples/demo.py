# SPDX-License-Identifier: BSD-3-Clause
"""A program that knows nothing of Convene (nbody.py), natively and through Convene: are its results the same?
Then under convene run without options: the first run learns, and later ones know.

Run it as ./dev demo. It needs Open MPI's launcher (any other by --launcher), mpi4py, and a built checkout.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "examples" / "nbody.py"
CONVENE = Path(sys.executable).with_name("convene")
OUTPUT = ROOT / "build" / "demo"

ALGORITHMS = (None, "sparbit", "ring")  # None: natively
COLLECTIVES = {"MPI_Allgather": "allgather", "MPI_Allgatherv": "allgatherv"}
NATIVELY, FIRST, LATER = "natively", "first", "later"
TIMES = {"seconds": "seconds", "in allgather": "seconds in allgather"}  # of a result, by heading
WISDOM = OUTPUT / "wisdom.json"
FEW_STEPS, MOST_STEPS = 1000, 300_000
SURE = 0.97  # the upper end of a ratio, of wisdom that is used


@dataclass
class Case:
    """One program with one choice of algorithm: what all its runs gave."""

    bodies: int
    algorithm: str | None
    results: list[dict[str, Any]] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)  # what Convene says that it ran

    @property
    def name(self) -> str:
        return f"through Convene, {self.algorithm}" if self.algorithm else "natively"

    @property
    def call(self) -> str:
        return str(self.results[0]["call"])

    def outcome(self) -> set[tuple[str, float]]:
        return {(result["checksum"], result["residual"]) for result in self.results}

    def median(self, what: str) -> float:
        return float(statistics.median(result[what] for result in self.results))


def fail(message: str) -> int:
    print(f"demo: {message}", file=sys.stderr)
    return 1


def command(case: Case, options: argparse.Namespace) -> list[str]:
    launch = [options.launcher, "-n", str(options.ranks), sys.executable, str(PROGRAM), "--json"]
    launch += ["--bodies", str(case.bodies), "--steps", str(options.steps)]
    if case.algorithm is None:
        return launch
    use = ",".join(f"{collective}={case.algorithm}" for collective in COLLECTIVES.values())
    return [str(CONVENE), "run", "--use", use, "--report", str(report_of(case)), "--", *launch]


def report_of(case: Case) -> Path:
    return OUTPUT / f"{case.algorithm}-{case.bodies}.json"


def run(case: Case, options: argparse.Namespace) -> str | None:
    """Runs a case once more; says what went wrong, if something did."""
    words = command(case, options)
    if not case.results:
        shown = [Path(word).name if word.startswith("/") else word for word in words]
        print("$", *shown, flush=True)
    # One thread a rank: eight ranks that each use all cores measure nothing.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return f"'{' '.join(words)}' ended with status {done.returncode}:\n{done.stdout}{done.stderr}"
    line = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
    if line is None:
        return f"'{' '.join(words)}' printed no result:\n{done.stdout}{done.stderr}"
    if not case.results:
        print(textwrap.indent(done.stdout.replace(line + "\n", "") + done.stderr, "    "), flush=True)
    case.results.append(json.loads(line))
    if case.algorithm:
        case.reported = algorithms_in(json.loads(report_of(case).read_text()), COLLECTIVES[case.call])
    return None


def algorithms_in(report: Any, collective: str) -> list[str]:
    """The algorithms that a report of `convene run` names for a collective."""
    if isinstance(report, list):
        return sorted({name for item in report for name in algorithms_in(item, collective)})
    if not isinstance(report, dict):
        return []
    if report.get("collective") == collective and "algorithm" in report:
        return [str(report["algorithm"])]
    return algorithms_in(list(report.values()), collective)


def compare(cases: list[Case], options: argparse.Namespace) -> bool:
    """The table; whether all is as it should be."""
    table = Table(
        title=f"nbody.py: {options.ranks} ranks, {options.steps} steps, median of {options.repeats} runs",
        caption="same: every body's position, bit by bit, in every run",
    )
    for heading in ("call", "run", "ran"):
        table.add_column(heading, no_wrap=True)
    for heading in ("seconds", "in allgather", "energy error"):
        table.add_column(heading, justify="right")
    table.add_column("checksum", no_wrap=True)
    table.add_column("same")
    good = True
    native: Case | None = None
    for case in cases:
        if case.algorithm is None:
            native = case
        assert native is not None
        same = case.outcome() == native.outcome() and len(case.outcome()) == 1
        used = case.algorithm is None or [name.partition(";")[0] for name in case.reported] == [
            case.algorithm
        ]
        good = good and same and used
        table.add_row(
            case.call,
            case.name,
            ", ".join(case.reported) or ("native" if case.algorithm is None else "[red]nothing[/]"),
            f"{case.median('seconds'):.3f}",
            f"{case.median('seconds in allgather'):.3f}",
            f"{case.results[0]['residual']:.2e}",
            case.results[0]["checksum"],
            "[green]yes[/]" if same else "[red]NO[/]",
            end_section=case.algorithm == ALGORITHMS[-1],
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return good


def run_without_options(
    name: str, steps: int, options: argparse.Namespace, *, is_shown: bool
) -> dict[str, Any] | str:
    """A run of a long program with small messages, natively or under convene run: what it printed, and which
    reasons the table gives. Text: what went wrong."""
    is_shown = is_shown and name != NATIVELY
    words = [options.launcher, "-n", str(options.learning_ranks), sys.executable, str(PROGRAM), "--json"]
    words += ["--bodies", str(8 * options.learning_ranks), "--steps", str(steps)]
    if name != NATIVELY:
        words = [str(CONVENE), "run", "--", *words]
    if is_shown:
        print("$", *(Path(word).name if word.startswith("/") else word for word in words), flush=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {"CONVENE_WISDOM": str(WISDOM)}  # a file of its own
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
    if done.returncode != 0 or line is None:
        return f"'{' '.join(words)}' ended with status {done.returncode}:\n{done.stdout}{done.stderr}"
    if is_shown:
        print(textwrap.indent(done.stdout.replace(line + "\n", "") + done.stderr, "    "), flush=True)
    reasons = re.findall(r"((?:learned|wisdom|guard): .*?)  ", done.stdout + done.stderr)
    return {**json.loads(line), "reasons": sorted(set(reasons))}


def learn(options: argparse.Namespace) -> str | None:
    """The same program under convene run without options; says what went wrong, if something did."""
    WISDOM.unlink(missing_ok=True)
    tried = run_without_options(NATIVELY, FEW_STEPS, options, is_shown=False)
    if isinstance(tried, str):
        return tried
    wanted = options.learning_seconds / tried["seconds"] * FEW_STEPS
    steps = max(FEW_STEPS, min(MOST_STEPS, round(wanted, -3)))
    print("\nconvene run without options: the first run learns, later ones know. Native runs in between:")
    found: dict[str, list[dict[str, Any]]] = {NATIVELY: [], FIRST: [], LATER: []}
    for name in (NATIVELY, FIRST, *(LATER, NATIVELY) * (options.repeats - 1), LATER):
        one = run_without_options(name, int(steps), options, is_shown=not found[name])
        if isinstance(one, str):
            return one
        found[name].append(one)
    table = Table(title=f"nbody.py: {options.learning_ranks} ranks, {steps:.0f} steps, median of the runs")
    for heading in ("run", "decided by"):
        table.add_column(heading)
    for heading in ("runs", *TIMES, "checksum"):
        table.add_column(heading, justify="right")
    for name, runs in found.items():
        reasons = sorted({reason for one in runs for reason in one["reasons"]})
        times = (f"{statistics.median(one[what] for one in runs):.3f}" for what in TIMES.values())
        checksum = runs[0]["checksum"]
        table.add_row(name, ", ".join(reasons) or "native", str(len(runs)), *times, checksum)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    if len({(one["checksum"], one["residual"]) for runs in found.values() for one in runs}) != 1:
        return "the runs differ: see the table"
    return conclude(found)


def ratios(found: dict[str, list[dict[str, Any]]], what: str) -> str:
    """Of later runs to native ones: that of the medians, and those of the pairs."""
    natively, later = ([one[what] for one in found[name]] for name in (NATIVELY, LATER))
    pairs = sorted(one / native for one, native in zip(later, natively, strict=True))
    whole = statistics.median(later) / statistics.median(natively)
    noise = ", within noise" if pairs[0] < 1 < pairs[-1] else ""
    return f"{whole:.2f} of native's {what} (pairs: {pairs[0]:.2f} to {pairs[-1]:.2f}{noise})"


def conclude(found: dict[str, list[dict[str, Any]]]) -> str | None:
    """Says what was gained, or why nothing; returns what went wrong, if something did."""
    (first,) = found[FIRST]
    reasons = [reason for one in [first, *found[LATER]] for reason in one["reasons"]]
    if any(reason.startswith("wisdom") for reason in reasons):
        print("Later runs took", ", and ".join(ratios(found, what) for what in TIMES.values()))
        return None
    if not any(reason.startswith("learned") for reason in reasons):
        print(
            f"Nothing was learned: in {first['seconds']:.0f} s, within its budget, no algorithm was measured "
            "to be faster. All runs were native. Longer ones: --learning-seconds 60"
        )
        return None
    if not any(reason.startswith("learned") for reason in first["reasons"]):
        print("The first run learned nothing, and the last one did: the next run will know.")
        return None
    kept = json.loads(WISDOM.read_text())["entries"]
    if not any(entry["use"] != "native" and entry["upper"] <= SURE for entry in kept):
        print("Later runs were native: the gain was withdrawn, or is too small to be sure of.")
        return None
    return f"later runs did not use what the first one has learned ({WISDOM.relative_to(ROOT)})"


def draw(ranks: int) -> list[Path]:
    """The schedule of the first algorithm, as SVG and, where there is a converter, as PNG."""
    algorithm = ALGORITHMS[1]
    picture = OUTPUT / f"allgather-{algorithm}-{ranks}.svg"
    show = [str(CONVENE), "show", "allgather", str(algorithm), "-p", str(ranks), "--format", "svg"]
    picture.write_text(subprocess.run(show, capture_output=True, text=True, check=True).stdout)
    if not shutil.which("rsvg-convert"):
        return [picture]
    png = picture.with_suffix(".png")
    subprocess.run(["rsvg-convert", "--zoom", "2", "-o", str(png), str(picture)], check=True)
    return [picture, png]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--bodies", type=int, default=800, help="and one more, for the irregular form")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--learning-ranks", type=int, default=2)
    parser.add_argument("--learning-seconds", type=float, default=10)
    default_launcher = "mpirun.openmpi" if shutil.which("mpirun.openmpi") else "mpirun"
    parser.add_argument("--launcher", default=default_launcher)
    options = parser.parse_args()

    if not shutil.which(options.launcher):
        return fail(
            f"there is no launcher '{options.launcher}'; run ./dev setup, or give one with --launcher"
        )
    OUTPUT.mkdir(parents=True, exist_ok=True)
    sizes = (options.bodies, options.bodies + 1)
    cases = [Case(bodies, algorithm) for bodies in sizes for algorithm in ALGORITHMS]
    print(f"The same program, {PROGRAM.relative_to(ROOT)}, natively and through Convene:", flush=True)
    for _ in range(options.repeats):
        for case in cases:
            if why := run(case, options):
                return fail(why)
    print()
    if not compare(cases, options):
        return fail("the runs differ, or Convene did not run what it was asked for: see the table")
    if why := learn(options):
        return fail(why)
    print("\nAll results are identical. The schedule that ran, drawn:")
    for picture in draw(options.ranks):
        print(f"  {picture.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
