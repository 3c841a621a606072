# SPDX-License-Identifier: BSD-3-Clause
"""Calls that are not inlined from MPI_Allgather to its first message, counted by callgrind.

Two ranks run allgather=ring of 8 bytes through the drop-in library for Open MPI; rank 0 runs under
valgrind. The path is the shortest chain of calls to MPI_Sendrecv; of the first call also the chain to the
generator of the schedule. The files are those whose objects define the functions of both chains, so the
build must have separate sources (CONVENE_UNITY=OFF ./dev build). Writes the chains (JSON).
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict, deque
from pathlib import Path

from convene import _core
from convene.base import paths

from benchmarks import common

ENTRY, MESSAGE = "MPI_Allgather", "PMPI_Sendrecv"
ALGORITHM = "allgather_ring"
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


def plain(function: str) -> str:
    """Without what callgrind and compilers add to a name."""
    return re.sub(r"'\d+$| \[clone .*| \(\..*", "", function)


def definitions() -> dict[str, list[str]]:
    """The sources that define each function, from the archives of the layers."""
    found: dict[str, list[str]] = defaultdict(list)
    archives = [
        path
        for path in (common.ROOT / "build/lib").glob("libconvene_*.a")
        if not path.stem.endswith(("_mpich", "_abi", "_smpi"))
    ]
    listed = subprocess.run(
        ["nm", "-C", "--defined-only", *archives], check=True, capture_output=True, text=True
    )
    source = ""
    for line in listed.stdout.splitlines():
        if line.endswith(".o:"):
            source = line.removesuffix(".o:")
        elif symbol := re.match(r"[0-9a-f]+ [tTwWuV] (.*)", line):
            found[plain(symbol[1])].append(source)
    return found


def sources_of(functions: list[str], algorithm: str) -> dict[str, str]:
    """The source of each function. Where several define the same local name it is the algorithm's."""
    known = definitions()
    found: dict[str, str] = {}
    for function in functions:
        candidates = known.get(plain(function), [])
        found[function] = min(candidates, key=lambda source: (algorithm not in source, source), default="")
    return found


def check_requirements() -> None:
    if not shutil.which("valgrind"):
        raise _core.RequestError("./dev bench call_path needs valgrind; install the package valgrind")
    if "CONVENE_UNITY:BOOL=ON" in (common.ROOT / "build/CMakeCache.txt").read_text():
        raise _core.RequestError(
            "build/ has united sources, where functions of different files are inlined into each other; "
            "run CONVENE_UNITY=OFF ./dev build first"
        )


def main() -> None:
    options = common.parser(__doc__).parse_args()
    check_requirements()
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        once, few, many = (profile_calls(number, Path(folder)) for number in (1, 100, 200))
    repeated = {key: count - few.get(key, 0) for key, count in many.items()}
    often = {key: count for key, count in repeated.items() if count >= 90}
    chains = {
        "first call, to the schedule's generator": chain(once, r"::generate\("),
        "first call, to its message": chain(once, MESSAGE),
        "repeated call, to its message": chain(often, MESSAGE),
    }
    first = list(dict.fromkeys(each for title in chains if "first" in title for each in chains[title]))
    sources = sources_of([ENTRY, *first], ALGORITHM)
    files = sorted({*sources.values()} - {""})
    options.output.mkdir(parents=True, exist_ok=True)
    results = {"chains": chains, "first_call_functions": sources, "first_call_files": files}
    (options.output / "call_path.json").write_text(json.dumps(results, indent=2))
    for title, functions in chains.items():
        print(f"{title}: {len(functions)} calls")
        for function in functions:
            name = re.sub(r"\(anonymous namespace\)::|<.*", "", function.partition("(")[0] or function)
            print(f"    {name:56} {sources.get(function, '')}")
    print(f"first call: {len(first)} calls through {len(files)} files")


if __name__ == "__main__":
    common.run(main)
