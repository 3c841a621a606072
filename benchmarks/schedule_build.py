# SPDX-License-Identifier: BSD-3-Clause
"""How long it takes to build schedules for 1,024 processes, and how much memory they and a communicator need.

Runs the Google Benchmark program that the build makes of schedule_build.cpp, and asks `convene bench`'s own
program how much memory a communicator takes. Writes a summary (JSON) and tables (Markdown).
"""

from typing import Any

from convene import _core
from convene.base import console
from convene.bench import program, requests
from convene.mpi import settings, stacks

from benchmarks import common


def measure_schedules(repetitions: int) -> list[dict[str, Any]]:
    """One row an algorithm: medians of nanoseconds, and bytes."""
    entries = common.run_google(
        "schedule_build",
        f"--benchmark_repetitions={repetitions}",
        "--benchmark_min_time=0.05",
        "--benchmark_enable_random_interleaving=true",
    )
    rows: dict[str, dict[str, Any]] = {}
    for entry in entries:
        kind, algorithm, *_ = entry["run_name"].split("/")
        if entry.get("aggregate_name") == "median":
            row = rows.setdefault(algorithm, {"algorithm": algorithm})
            row[kind] = entry["cpu_time"]
            row |= {
                name: entry[name] for name in ("steps", "bytes", "bytes_per_step", "fixed") if name in entry
            }
    order = [algorithm["name"] for algorithm in _core.algorithms("allgather")]
    return sorted(rows.values(), key=lambda row: order.index(row["algorithm"].partition(";")[0]))


def measure_communicators() -> list[dict[str, Any]]:
    rows = []
    for launcher, stack in stacks.MPIS:
        try:
            setting = settings.find_setting(launcher, stack)
        except _core.RequestError as error:
            console.complain(f"left out: {error}")
            continue
        result = program.measure(setting, requests.Request("allgather", 2, [], [], footprint=True))
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


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--repetitions", type=int, default=20, help="(default: %(default)s)")
    options = parser.parse_args()
    schedules, communicators = measure_schedules(options.repetitions), measure_communicators()
    common.keep(options, "schedule_build", {"procs": 1024, "schedules": schedules})
    common.keep(options, "communicators", {"communicators": communicators})
    print(f"Every schedule has {schedules[0]['fixed']:.0f} bytes besides its steps.")


def as_text(result: dict[str, Any]) -> str:
    if "schedules" in result:
        return schedules_text(result["schedules"])
    return communicators_text(result["communicators"])


REPORT = common.Report(as_text)


if __name__ == "__main__":
    common.run(main)
