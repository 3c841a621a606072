# SPDX-License-Identifier: BSD-3-Clause
"""How long it takes to build schedules for 1,024 processes, and how much memory they and a communicator need.

Runs the Google Benchmark program that the build makes of schedule_build.cpp, and asks `convene bench`'s own
program how much memory a communicator takes. Writes a summary (JSON) and tables (Markdown).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from convene import _core, bench, console

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/bin/benchmark_schedule_build"


def measure_schedules(repetitions: int) -> list[dict[str, Any]]:
    """One row an algorithm: medians of nanoseconds, and bytes."""
    command = [
        str(PROGRAM),
        "--benchmark_format=json",
        f"--benchmark_repetitions={repetitions}",
        "--benchmark_min_time=0.05",
        "--benchmark_enable_random_interleaving=true",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    rows: dict[str, dict[str, Any]] = {}
    for entry in json.loads(done.stdout)["benchmarks"]:
        kind, algorithm, *_ = entry["run_name"].split("/")
        if entry.get("aggregate_name") == "median":
            row = rows.setdefault(algorithm, {"algorithm": algorithm})
            row[kind] = entry["cpu_time"]
            row |= {
                name: entry[name] for name in ("steps", "bytes", "bytes_per_step", "fixed") if name in entry
            }
    order = [algorithm["name"] for algorithm in _core.algorithms("allgather")]
    return sorted(rows.values(), key=lambda row: order.index(row["algorithm"]))


def measure_communicators() -> list[dict[str, Any]]:
    rows = []
    for launcher, stack in bench.MPIS:
        try:
            setting = bench.find_setting(launcher, stack)
        except _core.RequestError as error:
            console.complain(f"left out: {error}")
            continue
        result = bench.measure(setting, bench.Request("allgather", 2, [], [], footprint=True))
        rows.append({"mpi": result["environment"]["mpi"].split(",")[0], **result["footprint"]})
    return rows


def schedules_text(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| algorithm | steps | building | its order | bytes altogether | most bytes a step |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['algorithm']} | {row['steps']:.0f} | {row['build'] / 1e3:.2f} µs "
        f"| {row['order'] / 1e3:.2f} µs | {row['bytes']:.0f} | {row['bytes_per_step']:.1f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def communicators_text(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| MPI | handle, `native` | handle, an algorithm of Convene's | heap for the MPI's duplicate |",
        "|---|---:|---:|---:|",
    ]
    for row in rows:
        own = max(row["handle_ring"], row["handle_sparbit"])
        lines.append(f"| {row['mpi']} | {row['handle_native']} B | {own} B | {row['mpi_duplicate']:.0f} B |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=20, help="(default: %(default)s)")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=ROOT / "build/benchmarks",
        help="folder (default: build/benchmarks)",
    )
    options = parser.parse_args()
    if not PROGRAM.is_file():
        console.complain("the benchmark is not built; run ./dev build")
        return 2
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        schedules, communicators = measure_schedules(options.repetitions), measure_communicators()
    except (bench.RunError, subprocess.CalledProcessError) as error:
        console.complain(str(error))
        return 1
    summary = {"procs": 1024, "schedules": schedules, "communicators": communicators}
    (options.output / "schedule_build.json").write_text(json.dumps(summary, indent=1) + "\n")
    for name, text in (
        ("schedule_build", schedules_text(schedules)),
        ("communicators", communicators_text(communicators)),
    ):
        (options.output / f"{name}.inc").write_text(text)
        print(text)
    print(f"Every schedule has {schedules[0]['fixed']:.0f} bytes besides its steps.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
