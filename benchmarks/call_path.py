# SPDX-License-Identifier: BSD-3-Clause
"""Calls that are not inlined from MPI_Allgather to its first message, counted by callgrind.

Two ranks run allgather=ring of 8 bytes through the drop-in library for Open MPI; rank 0 runs under
valgrind. The path is the shortest chain of calls to MPI_Sendrecv; of the first call also the chain to the
generator of the schedule. Writes the chains (JSON).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict, deque
from pathlib import Path

from convene.base import paths

from benchmarks import common

ENTRY, MESSAGE = "MPI_Allgather", "PMPI_Sendrecv"
Calls = dict[tuple[str, str], int]


def read_calls(profile: Path) -> Calls:
    """(caller, callee) with the number of calls, from a file of callgrind's."""
    names: dict[str, str] = {}
    calls: Calls = defaultdict(int)
    caller = callee = ""

    def name_of(text: str) -> str:
        found = re.fullmatch(r"(\(\d+\))(?: (.*))?", text)
        if not found:
            return text
        if found[2] is not None:
            names[found[1]] = found[2]
        return names[found[1]]

    for line in profile.read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "fn":
            caller = name_of(value)
        elif key == "cfn":
            callee = name_of(value)
        elif key == "calls":
            calls[caller, callee] += int(value.split()[0])
    return calls


def chain(calls: Calls, is_end: str) -> list[str]:
    """The shortest chain of calls from the entry to a function whose name matches."""
    targets: dict[str, list[str]] = defaultdict(list)
    for caller, callee in calls:
        targets[caller].append(callee)
    waiting, seen = deque([[ENTRY]]), {ENTRY}
    while waiting:
        found = waiting.popleft()
        if re.search(is_end, found[-1]):
            return found[1:]
        for callee in targets[found[-1]]:
            if callee not in seen:
                seen.add(callee)
                waiting.append([*found, callee])
    return []


def profile_calls(number: int, folder: Path) -> Calls:
    program = common.ROOT / "build/benchmarks/openmpi/call_path"
    output = folder / f"callgrind-{number}"
    environment = {
        **os.environ,
        "CONVENE_USE": "allgather=ring",
        "LD_PRELOAD": str(paths.preload_library("openmpi")),
    }
    exported = ["-n", "1", "-x", "CONVENE_USE", "-x", "LD_PRELOAD"]
    valgrind = [
        *("valgrind", "--tool=callgrind", "--collect-atstart=no", f"--toggle-collect={ENTRY}"),
        f"--callgrind-out-file={output}",
    ]
    launcher = shutil.which("mpirun.openmpi") or "mpirun"
    command = [launcher, *exported, *valgrind, str(program), str(number)]
    subprocess.run(
        [*command, ":", *exported, str(program), str(number)],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return read_calls(output)


def main() -> None:
    options = common.parser(__doc__).parse_args()
    if not shutil.which("valgrind"):
        sys.exit("./dev bench call_path needs valgrind; install the package valgrind")
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        once, few, many = (profile_calls(number, Path(folder)) for number in (1, 100, 200))
    repeated = {key: count - few.get(key, 0) for key, count in many.items()}
    often = {key: count for key, count in repeated.items() if count >= 90}
    chains = {
        "first call, to the schedule's generator": chain(once, r"::generate\("),
        "first call, to its message": chain(once, MESSAGE),
        "repeated call, to its message": chain(often, MESSAGE),
    }
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "call_path.json").write_text(json.dumps(chains, indent=2))
    for title, functions in chains.items():
        print(f"{title}: {len(functions)} calls")
        for function in functions:
            print("   ", re.sub(r"\(anonymous namespace\)::|<.*", "", function.partition("(")[0] or function))


if __name__ == "__main__":
    main()
