# SPDX-License-Identifier: BSD-3-Clause
"""How many messages a second the built-in simulator evaluates, its bound, and its cost with a million ranks.

Runs the Google Benchmark program that the build makes of simulate_speed.cpp, one process for each case, so
that the memory of each is its own. Writes a summary (JSON) and tables (Markdown).
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import common


def list_cases(program: Path, wanted: str) -> list[str]:
    command = [str(program), "--benchmark_list_tests", f"--benchmark_filter={wanted}"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def measure(program: Path, case: str) -> dict[str, Any]:
    """Messages a second and seconds of one simulation, both of processor time; the process's most memory."""
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        output = Path(folder) / "out.json"
        command = [
            str(program),
            f"--benchmark_filter=^{case}$",
            "--benchmark_min_time=0.5",
            f"--benchmark_out={output}",
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        entry = json.loads(output.read_text())["benchmarks"][0]
    seconds = entry["cpu_time"] * {"ms": 1e-3, "s": 1.0}[entry["time_unit"]]
    return {
        "case": case,
        "messages": entry["messages"],
        "messages_per_second": entry["messages_per_second"],
        "events_per_message": entry["events_per_message"],
        "seconds": seconds,
        "memory": usage.ru_maxrss * 1024,
    }


def as_text(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| case | messages | events a message | messages a second | time | memory |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['case']} | {row['messages']:.0f} | {row['events_per_message']:.2f} "
        f"| {row['messages_per_second'] / 1e6:.2f} million "
        f"| {row['seconds']:.3g} s | {row['memory'] / 2**20:.0f} MiB |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--filter", default=".", help="a regular expression of cases (default: all)")
    options = parser.parse_args()
    program = common.built("bin/benchmark_simulate_speed")
    rows = [measure(program, case) for case in list_cases(program, options.filter)]
    common.keep(options, "simulate_speed", {"cases": rows})


REPORT = common.Report(lambda result: as_text(result["cases"]))


if __name__ == "__main__":
    common.run(main)
