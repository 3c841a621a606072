# SPDX-License-Identifier: BSD-3-Clause
"""Results of a benchmark: raw observations outside the tree, a summary, and what is made from the summary.

A summary states the benchmark, the commit, the command and the machine, and has the medians and intervals of
tables and figures. A list of equal records is written as a table, one record a line.
"""

import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs/benchmarks"
RAW = ROOT / "build/benchmarks/results"
MOST_BYTES = 50_000  # of a summary
DIGITS = (6, 8, 10, 17)  # significant ones; the first that leave the table as it is


class Summary(TypedDict):
    """What NAME.json contains."""

    benchmark: str  # the module that measured it
    commit: str
    command: str
    machine: dict[str, Any]
    result: dict[str, Any]


@dataclass(frozen=True)
class Report:
    """How a result becomes a table (Markdown) and a figure."""

    as_text: Callable[[dict[str, Any]], str]
    draw: Callable[[dict[str, Any], Path], None] | None = None


def rounded(value: Any, digits: int) -> Any:
    """The same with floating-point numbers of so many significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, Mapping):
        return {name: rounded(each, digits) for name, each in value.items()}
    return [rounded(each, digits) for each in value] if isinstance(value, list | tuple) else value


def is_table(value: Any) -> bool:
    """Whether it is a list of records with the same names."""
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(each, dict) and list(each) == list(value[0]) for each in value)
    )


def packed(value: Any) -> Any:
    """The same with tables in the place of lists of equal records."""
    if is_table(value):
        return {"columns": list(value[0]), "rows": [[packed(each) for each in row.values()] for row in value]}
    if isinstance(value, dict):
        return {name: packed(each) for name, each in value.items()}
    return [packed(each) for each in value] if isinstance(value, list) else value


def unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"columns", "rows"}:
            return [dict(zip(value["columns"], map(unpacked, row), strict=True)) for row in value["rows"]]
        return {name: unpacked(each) for name, each in value.items()}
    return [unpacked(each) for each in value] if isinstance(value, list) else value


def as_lines(value: Any, indent: str = "") -> str:
    """JSON with one row of a table, or one short value, a line."""
    plain = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(plain) <= 100 - len(indent):
        return plain
    inner = indent + " "
    if isinstance(value, list):
        if not any(isinstance(each, dict) for each in value):
            if not any(isinstance(each, list) for each in value):
                return plain
            return "[\n" + ",\n".join(inner + json.dumps(each, ensure_ascii=False) for each in value) + "]"
        return "[\n" + ",\n".join(inner + as_lines(each, inner) for each in value) + "]"
    lines = (f"{inner}{json.dumps(name)}: {as_lines(each, inner)}" for name, each in value.items())
    return "{\n" + ",\n".join(lines) + "}"


def commit() -> str:
    """The commit that the sources are of; with a + if they differ from it."""
    git = ["git", "-C", str(ROOT)]
    try:
        found = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "diff", "HEAD", "--stat"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()[:12] + ("+" if changed.stdout.strip() else "")


def machine() -> dict[str, Any]:
    """The state of this machine."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(models, platform.processor()),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "load": [round(each, 2) for each in os.getloadavg()],
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
    }


def summary_of(benchmark: str, result: Mapping[str, Any]) -> Summary:
    words = ["./dev bench", benchmark, *sys.argv[1:]]
    return {
        "benchmark": benchmark,
        "commit": commit(),
        "command": " ".join(words),
        "machine": machine(),
        "result": dict(result),
    }


def write(folder: Path, name: str, summary: Summary) -> None:
    """Writes NAME.json, and from it NAME.inc and NAME.svg."""
    as_text = report_of(summary["benchmark"]).as_text
    candidates = (rounded(summary, digits) for digits in DIGITS)
    exact = as_text(rounded(summary["result"], DIGITS[-1]))
    kept = next(each for each in candidates if as_text(each["result"]) == exact)
    text = as_lines(packed(kept)) + "\n"
    if len(text.encode()) > MOST_BYTES:
        raise RuntimeError(f"{name}.json would have {len(text)} bytes; a summary has at most {MOST_BYTES}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(text)
    render(folder, name)


def read(path: Path) -> Summary:
    return cast(Summary, unpacked(json.loads(path.read_text())))


def report_of(benchmark: str) -> Report:
    report = importlib.import_module(f"benchmarks.{benchmark}").REPORT
    assert isinstance(report, Report)
    return report


def render(folder: Path, name: str) -> None:
    """Makes NAME.inc and NAME.svg from NAME.json."""
    summary = read(folder / f"{name}.json")
    report = report_of(summary["benchmark"])
    (folder / f"{name}.inc").write_text(report.as_text(summary["result"]))
    if report.draw:
        report.draw(summary["result"], folder / f"{name}.svg")


def write_raw(name: str, raw: Any) -> None:
    """Writes the observations outside the tree."""
    RAW.mkdir(parents=True, exist_ok=True)
    (RAW / f"{name}.json").write_text(json.dumps(raw) + "\n")
