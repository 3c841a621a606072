# SPDX-License-Identifier: BSD-3-Clause
"""convene bench: what it asks for, how it fails, and that it measures what it says, on every MPI at hand."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convene import bench, paths, stacks
from convene.bench_statistics import resample_medians, summarize

Convene = Any
MakeLauncher = Callable[[str], Any]

OPEN_MPI = "mpirun (Open MPI) 5.0.11"

# Stands in for tools/bench.cpp: every contender is twice as slow as the one before.
PROGRAM = """#!{python}
import json, os, sys

words = sys.argv[1:]
if os.environ["RANK"] == "0" and {said!r}:
    print({said!r}, file=sys.stderr)
if {status}:
    sys.exit({status})
value = lambda option: words[words.index(option) + 1]
first = words.index("--contenders") + 1
contenders = words[first : next(i for i in range(first, len(words)) if words[i].startswith("--"))]
number = int(value("--repetitions"))
sizes = [
    {{"bytes": int(size), "calls": 3, "load": ["{load} 1 1 1/9 7"] * 2,
      "contenders": [{{"name": name, "seconds": [2**place * (1e-6 + 1e-8 * (i % 5)) for i in range(number)]}}
                     for place, name in enumerate(contenders)]}}
    for size in value("--sizes").split(",")
]
result = {{"format": 1, "collective": words[0], "procs": int(os.environ["PROCS"]), "stack": "openmpi",
          "environment": {{"mpi": "Some MPI 1.0, of today", "cores": 2, "hosts": ["here"]}}, "sizes": sizes}}
print("progress 1 1")
if os.environ["RANK"] == "0":
    with open(value("--output"), "w") as file:
        json.dump(result, file)
"""


@pytest.fixture
def make_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts the program where the command looks for it."""

    def make(*, status: int = 0, said: str = "", load: str = "0.1") -> None:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "convene-bench-openmpi"
        program.write_text(PROGRAM.format(python=sys.executable, status=status, said=said, load=load))
        program.chmod(0o755)
        monkeypatch.setattr(paths, "PROGRAMS", (folder,))

    return make


def test_a_table_with_ratios(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program()
    launcher = make_launcher(OPEN_MPI)
    done = convene(
        *("bench", "allgather", "-n", 2, "--launcher", launcher, "--sizes", "8,4KiB"),
        *("--algorithms", "ring,sparbit;send=packed", "--against", "native"),
    )
    assert done.status == 0, done
    assert "allgather, 2 ranks, Some MPI 1.0" in done.out
    lines = [line.split() for line in done.out.splitlines()]
    first = next(line for line in lines if "native" in line and "µs" in line)
    assert first[:4] == ["8", "native", "1.02", "µs"]
    ratios = {line[0]: line[-4] for line in lines if line and line[0] in ("ring", "sparbit;send=packed")}
    assert ratios == {"ring": "2.000", "sparbit;send=packed": "4.000"}
    assert "4KiB" in done.out
    assert done.err == ""


def test_what_the_ranks_are_told(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program()
    launcher = make_launcher(OPEN_MPI)
    done = convene(
        *("bench", "allgatherv", "-n", 3, "--launcher", f"{launcher} --bind-to-nothing", "--sizes", "16:64"),
        *("--algorithms", "ring", "--against", "mpi:ring,native", "--repetitions", 7, "--check-all"),
    )
    assert done.status == 0, done
    words = launcher.told["arguments"]
    assert words[words.index("--bind-to-nothing") + 1 :][:2] == ["-n", "3"]
    assert words[words.index("--sizes") + 1] == "16,32,64"
    first = words.index("--contenders") + 1
    assert words[first : first + 3] == ["mpi:ring", "native", "ring"]
    assert words[words.index("--repetitions") + 1] == "7"
    assert words[words.index("--check") + 1] == "every"


def test_all_are_those_that_can_run(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program()
    launcher = make_launcher(OPEN_MPI)
    done = convene("bench", "allgather", "-n", 3, "--launcher", launcher, "--sizes", 8, "--json")
    names = {row["algorithm"] for row in done.json["summary"]}
    assert {"native", "ring", "sparbit", "bruck"} <= names
    assert not {"recursive_doubling", "neighbor_exchange"} & names


def test_files_have_every_observation(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None], tmp_path: Path
) -> None:
    make_program()
    path = tmp_path / "out.json"
    launcher = make_launcher(OPEN_MPI)
    done = convene(
        "bench", "allgather", "-n", 2, "--launcher", launcher, "--sizes", "8", "-o", path, "--json"
    )
    assert done.status == 0, done
    written = json.loads(path.read_text())
    assert len(written["sizes"][0]["contenders"][0]["seconds"]) == 50
    assert written["summary"] == done.json["summary"]
    assert "sizes" not in done.json
    assert written["command"][0] == str(launcher)


def test_it_says_when_the_machine_was_busy(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program(load="7.5")
    done = convene(
        *("bench", "allgather", "-n", 3, "--launcher", make_launcher(OPEN_MPI), "--sizes", 8),
        *("--algorithms", "ring"),
    )
    assert done.status == 0
    assert "its load was 7.5 on 2 cores" in done.err
    assert "3 ranks shared 2 cores" in done.err


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (1, "convene-bench: ring delivered wrong data for 8 bytes", "ring delivered wrong data for 8 bytes"),
        (9, "----\nsomething broke\n----", "the MPI program ended with status 9: something broke"),
        (2, "noise\nconvene-bench: this MPI has no algorithm 'x'", "this MPI has no algorithm 'x'"),
    ],
)
def test_runs_that_fail(
    convene: Convene,
    make_launcher: MakeLauncher,
    make_program: Callable[..., None],
    status: int,
    said: str,
    expected: str,
) -> None:
    make_program(status=status, said=said)
    done = convene("bench", "allgather", "-n", 2, "--launcher", make_launcher(OPEN_MPI), "--sizes", 8)
    assert done.status == (2 if status == 2 else 1)
    assert done.err == f"convene: {expected}\n"
    assert done.out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("alltoal", "-n", "2"), "there is no collective 'alltoal'"),
        (("allgather",), "-n"),
        (("allgather", "-n", "0"), "-n must be from 1"),
        (("bcast", "-n", "2"), "there is no benchmark of bcast yet, only of allgather and allgatherv"),
        (("allgather", "-n", "3", "--algorithms", "recursive_doubling"), "power of two, not 3"),
        (("allgather", "-n", "2", "--algorithms", "rinq"), "did you mean ring?"),
        (("allgather", "-n", "2", "--algorithms", "", "--against", ""), "nothing to measure"),
        (("allgather", "-n", "2", "--sizes", "1MiB:8"), "is empty"),
        (("allgather", "-n", "2", "--sizes", "8:64:1"), "factor '1'"),
        (("allgather", "-n", "2", "--sizes", "8:64:2:2"), "is no range of sizes"),
        (("allgather", "-n", "2", "--sizes", "4GiB"), "is too large"),
        (("allgather", "-n", "2", "--sizes", "many"), "'many' is not a size"),
        (("allgather", "-n", "2", "--repetitions", "1"), "repetitions"),
        (("allgather", "-n", "2", "--launcher", "no-such-mpirun"), "'no-such-mpirun' cannot be found"),
        (("allgather", "-n", "2", "--launcher", ""), "--launcher needs the name"),
        (("allgather", "-n", "2", "--stack", "lam"), "there is no stack 'lam'"),
        (("allgather", "-n", "2", "-o", "out.txt"), "'out.txt' is none"),
        (("allgather", "-n", "2", "-o", "no/such/place/out.json"), "there is no directory"),
    ],
)
def test_wrong_requests(convene: Convene, arguments: tuple[str, ...], words: str) -> None:
    assert words in convene("bench", *arguments).complaint


def test_stacks_that_do_not_fit(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program()
    done = convene("bench", "allgather", "-n", 2, "--launcher", make_launcher(OPEN_MPI), "--stack", "mpich")
    assert "--stack mpich does not fit" in done.complaint


def test_a_program_that_is_not_built(
    convene: Convene, make_launcher: MakeLauncher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(paths, "PROGRAMS", (tmp_path,))
    done = convene("bench", "allgather", "-n", 2, "--launcher", make_launcher(OPEN_MPI))
    assert "there is no convene-bench-openmpi" in done.complaint


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8", [8]),
        ("8,64,4KiB", [8, 64, 4096]),
        ("8:64", [8, 16, 32, 64]),
        ("8:1KiB:4", [8, 32, 128, 512]),
        ("0,1:2", [0, 1, 2]),
        ("8,8:16", [8, 16]),
    ],
)
def test_sizes(text: str, sizes: list[int]) -> None:
    assert bench.parse_sizes(text) == sizes


def test_names_are_split_outside_of_parentheses() -> None:
    assert bench.split_names("ring, hier(sparbit,linear;leaders=2),ring") == [
        "ring",
        "hier(sparbit,linear;leaders=2)",
    ]


def observations(*factors: float, number: int = 60) -> dict[str, Any]:
    """Contenders that differ by a factor, under a disturbance that meets all of them in a repetition."""
    random = np.random.default_rng(7)
    disturbance = 1 + 3 * (random.random(number) < 0.3)
    rows = [factor * disturbance * (1 + 0.01 * random.random(number)) for factor in factors]
    return {
        "bytes": 8,
        "contenders": [{"name": str(i), "seconds": list(row)} for i, row in enumerate(rows)],
    }


def test_ratios_stay_sharp_under_shared_disturbances() -> None:
    rows = summarize(observations(1.0, 1.1), ["0"])
    ratio = rows[1].ratios["0"]
    assert ratio.low < 1.1 < ratio.high
    assert ratio.high - ratio.low < 0.02
    assert rows[1].seconds.low <= rows[1].seconds.value <= rows[1].seconds.high
    assert "0" not in rows[0].ratios


def test_intervals_contain_the_truth_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(100):
        pair = np.exp(random.normal(0, 0.1, (2, 40))) * np.array([[1.0], [1.2]])
        samples = resample_medians(pair)
        low, high = np.percentile(samples[1] / samples[0], [2.5, 97.5])
        held += low <= 1.2 <= high
    assert 85 <= held <= 100


def real_program(stack: str) -> None:
    if paths.find(f"convene-bench-{stack}", paths.PROGRAMS) is None:
        pytest.skip(f"convene-bench-{stack} is not built")


def launcher_of(name: str) -> str:
    """A launcher that is there: one of the checkout's own, or the system's."""
    found = stacks.find_program(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return str(found)


@pytest.mark.parametrize(
    ("launcher", "stack"), bench.MPIS, ids=lambda text: Path(text).parent.parent.name + text[-7:]
)
def test_a_real_measurement(convene: Convene, launcher: str, stack: str) -> None:
    """On every MPI: all that can run, results checked after every observation, with one of the MPI's own."""
    real_program(stack)
    own = {"openmpi": ",mpi:ring", "mpich": ",mpi:ring", "abi": ""}[stack]
    done = convene(
        *("bench", "allgather", "-n", 3, "--launcher", launcher_of(launcher), "--stack", stack),
        *("--sizes", "0,8,1KiB", "--against", f"native{own}", "--repetitions", 3, "--check-all", "--json"),
    )
    assert done.status == 0, done
    assert {row["algorithm"] for row in done.json["summary"]} >= {"native", "ring", "sparbit", "bruck"}
    assert all(row["median"] > 0 for row in done.json["summary"])


@pytest.mark.parametrize(("launcher", "stack"), bench.MPIS[:2], ids=["4", "5"])
def test_the_mpi_really_takes_what_is_chosen(convene: Convene, launcher: str, stack: str) -> None:
    """Open MPI's algorithm for two processes refuses three: so it must have been taken, and for its own
    contender alone."""
    real_program(stack)
    arguments = ("bench", "allgather", "-n", 3, "--launcher", launcher_of(launcher), "--sizes", 8)
    shared = ("--repetitions", 2, "--algorithms", "ring")
    refused = convene(*arguments, *shared, "--against", "native,mpi:two_proc")
    assert refused.status == 1
    assert "mpi:two_proc failed" in refused.err
    assert convene(*arguments, *shared, "--against", "mpi:linear,native").status == 0
    unknown = convene(*arguments, *shared, "--against", "mpi:no_such")
    assert "no algorithm 'no_such'" in unknown.complaint
    assert "recursive_doubling" in unknown.complaint
