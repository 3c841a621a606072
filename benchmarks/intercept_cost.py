# SPDX-License-Identifier: BSD-3-Clause
"""What an intercepted call costs when the native algorithm is selected, profiling on.

In one program that runs with the drop-in library, MPI_Allgather (which Convene intercepts) and
PMPI_Allgather (which it does not) take turns: the difference of their medians is what Convene adds to a call.
Then once more with the recorder on (CONVENE_RECORD): by so much as the difference grows, recording costs.
Writes a summary (JSON) and a table (Markdown).
"""

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from convene import _core
from convene.base import console, parsing, paths
from convene.bench import program, requests
from convene.catalogue import selection
from convene.mpi import processes, settings, stacks
from convene.stats.bootstrap import estimate, resample_medians
from numpy.typing import NDArray

from benchmarks import common

MOST_NANOSECONDS = 100


def observe(
    launcher: str, stack: str, procs: int, options: argparse.Namespace, *, recording: bool
) -> tuple[NDArray[np.float64], str]:
    """Nanoseconds of a call, intercepted ones in the first row, native ones in the second; which MPI."""
    request = requests.Request(
        "allgather",
        procs,
        [8],
        [selection.NATIVE, selection.INTERCEPTED],
        repetitions=options.repetitions,
        batch=options.batch * 1e-6,
        group=2,
    )
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        # The profile is written as under `convene run`.
        setting = replace(
            settings.find_setting(launcher, stack),
            preload=paths.preload_library(stack),
            variables={
                "CONVENE_PROFILE_DIR": folder,
                **({"CONVENE_RECORD": folder} if recording else {}),
            },
        )
        result = program.measure(setting, request)
        calls = count_intercepted(Path(folder))
        recorded = len(list(Path(folder).glob("recording-*.bin")))
    if calls < options.repetitions * procs:
        raise processes.RunError(f"{launcher}: only {calls} calls were intercepted; was the library loaded?")
    if recorded != (procs if recording else 0):
        raise processes.RunError(f"{launcher}: {recorded} of {procs} ranks have left a recording")
    seconds = {row["name"]: row["seconds"] for row in result["sizes"][0]["contenders"]}
    pair = np.array([seconds[selection.INTERCEPTED], seconds[selection.NATIVE]]) * 1e9
    return pair, result["environment"]["mpi"].split(",")[0]


def measure(launcher: str, stack: str, procs: int, options: argparse.Namespace) -> dict[str, Any]:
    pair, mpi = observe(launcher, stack, procs, options, recording=False)
    medians, samples = np.median(pair, axis=1), resample_medians(pair)
    with_recorder, _ = observe(launcher, stack, procs, options, recording=True)
    more, more_samples = np.median(with_recorder, axis=1), resample_medians(with_recorder)
    cost = estimate(
        (more[0] - more[1]) - (medians[0] - medians[1]),
        (more_samples[0] - more_samples[1]) - (samples[0] - samples[1]),
    )
    return {
        "mpi": mpi,
        "stack": stack,
        "procs": procs,
        "observations": pair.shape[1],
        "intercepted": medians[0],
        "native": medians[1],
        **estimate(medians[0] - medians[1], samples[0] - samples[1]).as_json("difference"),
        "recording": cost.as_json("difference"),
        "recording_share": cost.value / medians[1],
    }


def count_intercepted(folder: Path) -> float:
    """The calls that the ranks' profiles tell of: without the library, there would be no cost to be seen."""
    profiles = [json.loads(path.read_text()) for path in folder.glob("profile-*.json")]
    return sum(
        float(record["calls"])
        for profile in profiles
        for communicator in profile["communicators"]
        for record in communicator["records"]
    )


def markdown(rows: list[dict[str, Any]]) -> str:
    has_recorder = all("recording" in row for row in rows)  # earlier versions did not measure it
    lines = [
        "| MPI | ranks | native call | intercepted | difference (95 % interval) |"
        + (" recorder on: more by |" if has_recorder else ""),
        "|---|---:|---:|---:|---:|" + ("---:|" if has_recorder else ""),
    ]
    for row in rows:
        line = (
            f"| {row['mpi']} | {row['procs']} | {row['native']:.0f} ns | {row['intercepted']:.0f} ns "
            f"| {interval_text(row)} |"
        )
        if has_recorder:
            line += f" {interval_text(row['recording'])}, {row['recording_share']:.1%} |"
        lines.append(line)
    return "\n".join(lines) + "\n"


def interval_text(row: dict[str, Any]) -> str:
    return f"{row['difference']:.0f} ns ({row['low']:.0f} … {row['high']:.0f})"


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--procs", default="1,2", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=400, help="(default: %(default)s)")
    parser.add_argument(
        "--batch", type=float, default=200, help="µs of an observation (default: %(default)s)"
    )
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    numbers = parsing.parse_numbers(options.procs, "--procs", 1, 1024)
    rows = []
    for launcher, stack in stacks.MPIS:
        for procs in numbers:
            try:
                rows.append(measure(launcher, stack, procs, options))
            except _core.RequestError as error:
                console.complain(f"left out: {error}")
                break
    if not rows:
        raise _core.RequestError("none of the MPIs is there; run ./dev setup")
    common.keep(options, "intercept_cost", {"calls": rows})
    print(f"highest: {max(row['difference'] for row in rows):.0f} ns; the goal is {MOST_NANOSECONDS} ns")
    costliest = max(row["recording"]["difference"] for row in rows)
    print(f"recording, at most: {costliest:.0f} ns; the goal is {MOST_NANOSECONDS} ns")


REPORT = common.Report(lambda result: markdown(result["calls"]))


if __name__ == "__main__":
    common.run(main)
