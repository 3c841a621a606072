# SPDX-License-Identifier: BSD-3-Clause
"""convene bench: what it asks for, how it fails, and that it measures what it says, on every MPI at hand."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convene import _core, bench, bench_files, bench_metrics, paths, stacks
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
    {{"bytes": int(size), "arrivals": "none", "calls": 3, "load": ["{load} 1 1 1/9 7"] * 2,
      "contenders": [{{"name": name, "seconds": [2**place * (1e-6 + 1e-8 * (i % 5)) for i in range(number)],
                      **({{"arrival": [[0]] * number,
                           "exit": [[2**place * (1000 + i % 5)] for i in range(number)]}}
                         if {with_times} else {{}})}}
                     for place, name in enumerate(contenders)]}}
    for size in value("--sizes").split(",")
]
head = {{"format": 2, "collective": words[0], "procs": int(os.environ["PROCS"]), "stack": "openmpi",
        "options": {{"distribution": value("--distribution"), "check": value("--check")}},
        "environment": {{"mpi": "Some MPI 1.0, of today", "cores": 2, "hosts": ["here"]}}}}
print("progress 0.5 1")
if os.environ["RANK"] == "0":
    lines = [json.dumps(line) for line in [head, *sizes]]
    with open(value("--output"), "w") as file:
        file.write(chr(10).join(lines[:{lines}]) + {end!r})
if {late_status}:
    sys.exit({late_status})
"""


@pytest.fixture
def make_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts the program where the command looks for it."""

    def make(
        *,
        status: int = 0,
        said: str = "",
        load: str = "0.1",
        lines: int | None = None,
        end: str = "\n",
        late_status: int = 0,
        with_times: bool = False,
    ) -> None:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "convene-bench-openmpi"
        text = PROGRAM.format(
            python=sys.executable,
            status=status,
            said=said,
            load=load,
            lines=lines,
            end=end,
            late_status=late_status,
            with_times=with_times,
        )
        program.write_text(text)
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
        *("--algorithms", "ring", "--against", "mpi:ring,native", "--repetitions", 7, "--check", "once"),
    )
    assert done.status == 0, done
    words = launcher.told["arguments"]
    assert words[words.index("--bind-to-nothing") + 1 :][:2] == ["-n", "3"]
    assert words[words.index("--sizes") + 1] == "16,32,64"
    first = words.index("--contenders") + 1
    assert words[first : first + 3] == ["mpi:ring", "native", "ring"]
    assert words[words.index("--repetitions") + 1] == "7"
    assert words[words.index("--check") + 1] == "once"
    assert words[words.index("--arrivals") + 1 :][:1] == ["none"]


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
    assert len(written["runs"][0]["sizes"][0]["contenders"][0]["seconds"]) == 50
    assert written["summary"] == done.json["summary"]
    assert "runs" not in done.json
    assert written["runs"][0]["command"][0] == str(launcher)
    assert not (tmp_path / "out.json.part").exists()


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


def test_several_numbers_of_ranks(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program()
    done = convene(
        *("bench", "bcast", "-n", "2,3", "--launcher", make_launcher(OPEN_MPI), "--sizes", "8,16"),
        *("--algorithms", "binomial", "--json"),
    )
    assert done.status == 0, done
    assert [(row["procs"], row["bytes"]) for row in done.json["summary"]] == [
        *[(2, 8), (2, 8), (2, 16), (2, 16)],
        *[(3, 8), (3, 8), (3, 16), (3, 16)],
    ]


@pytest.mark.parametrize(("lines", "end"), [(2, "\n"), (3, '{"bytes": 16, "calls"')])
def test_what_is_measured_survives(
    convene: Convene,
    make_launcher: MakeLauncher,
    make_program: Callable[..., None],
    tmp_path: Path,
    lines: int,
    end: str,
) -> None:
    """A run that dies after the first of three sizes, the second one's line cut off or missing."""
    make_program(lines=2, end="\n" if lines == 2 else "\n" + end, late_status=9)
    path = tmp_path / "out.json"
    launcher = make_launcher(OPEN_MPI)
    command = ("bench", "bcast", "-n", 2, "--launcher", launcher, "--algorithms", "", "-o", path)
    sizes = ("--sizes", "8,16,32")
    died = convene(*command, *sizes)
    assert died.status == 1
    assert "1 of 3 sizes are measured and kept in" in died.err
    assert not path.exists()

    assert "add --resume" in convene(*command, *sizes).complaint
    assert "sizes was [8, 16, 32], now [8]" in convene(*command, "--sizes", "8", "--resume").complaint
    make_program()
    assert convene(*command, *sizes, "--resume").status == 0
    words = launcher.told["arguments"]
    assert words[words.index("--sizes") + 1] == "16,32"
    written = bench_files.read(path)
    assert [cell["bytes"] for cell in written["runs"][0]["sizes"]] == [8, 16, 32]
    assert "nothing to resume" in convene(*command, *sizes, "--resume").complaint


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text, words in (
        ('{"format": 2, "collective": "bcast", "runs": [{"si', "is cut off"),
        ('{"format": 2, "collective": "bcast", "runs": [', "is cut off"),
        ("hello", "is no JSON"),
        ('{"a": 1}', "is no measurement"),
        ('{"format": 9, "collective": "bcast", "runs": []}', "has format 9"),
    ):
        path.write_text(text)
        with pytest.raises(_core.RequestError, match=words):
            bench_files.read(path)


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
        (("allgather",), "say how many ranks, as in -n 8"),
        ((), "name a collective"),
        (("allgather", "--study", "sparbit"), "is of allgather; leave out 'allgather'"),
        (("--study", "sparbyt"), "did you mean sparbit?"),
        (("allgather", "-n", "2", "--full"), "--full needs a --study"),
        (("allgather", "-n", "0"), "-n must be a whole number from 1"),
        (("allgather", "-n", "2", "--distributions", "spike"), "allgather has blocks of equal size"),
        (("allgatherv", "-n", "2", "--distributions", "spyke"), "a distribution is one of regular"),
        (("allgather", "-n", "2", "--arrivals", "unifrom:5ms"), "did you mean uniform?"),
        (("allgather", "-n", "2", "--arrivals", "late:2:5ms"), "makes rank 2 late, but there are 2"),
        (("allgather", "-n", "2", "--metric", "oso"), "did you mean osu?"),
        (("allreduce", "-n", "2", "--type", "byte"), "does not combine bytes"),
        (("bcast", "-n", "2,4", "--root", "2"), "there is no rank 2 to be the root among 2 ranks"),
        (("bcast", "-n", "2", "--sync", "clock"), "--sync is one of barrier, window"),
        (("bcast", "-n", "2", "--resume"), "--resume needs -o"),
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


def test_metrics_by_their_definitions() -> None:
    """Two calls of three ranks, by hand, in nanoseconds."""
    contender = {
        "name": "ring",
        "seconds": [40e-9, 12e-9],
        "arrival": [[0, 10, 20], [0, 0, 0]],
        "exit": [[40, 40, 50], [6, 9, 12]],
    }
    cell = {"bytes": 8, "calls": 1, "contenders": [contender]}
    expected = {
        "max": [40, 12],
        "nbcbench": [40, 12],
        "osu": [100 / 3, 9],
        "osu_min": [30, 6],
        "osu_max": [40, 12],
        "imb": [100 / 3, 9],
        "elapsed": [100 / 3, 9],
        "run_time": [50, 12],
        "last_exit": [30, 12],
        "waiting": [10, 0],
    }
    assert set(expected) == set(bench_metrics.METRICS)
    for name, numbers in expected.items():
        found = bench_metrics.values(cell, bench_metrics.METRICS[name])[0]
        np.testing.assert_allclose(found, np.array(numbers) * 1e-9, err_msg=name)


def test_absorption_by_hand() -> None:
    """Balanced 12 ns, 50 ns with the last rank 20 ns late: 12 - 50 + 20."""
    balanced = {"arrival": [[0, 0, 0]], "exit": [[6, 9, 12]]}
    late = {"arrival": [[0, 10, 20]], "exit": [[40, 40, 50]]}
    found = bench_metrics.absorbed(balanced, late)
    np.testing.assert_allclose(found.absorption, [-18e-9])
    np.testing.assert_allclose(found.normalised, [-1.5])
    np.testing.assert_allclose(found.imbalance, [20e-9])


def test_missed_deadlines_do_not_count() -> None:
    cell = {
        "bytes": 8,
        "contenders": [
            {"name": "a", "seconds": [1.0, 2.0, 3.0], "valid": [1, 0, 1]},
            {"name": "b", "seconds": [4.0, 5.0, 6.0], "valid": [1, 1, 1]},
        ],
    }
    found = bench_metrics.values(cell, bench_metrics.METRICS["max"])
    assert found.tolist() == [[1.0, 3.0], [4.0, 6.0]]


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
        *("--sizes", "0,8,1KiB", "--against", f"native{own}", "--repetitions", 3, "--json"),
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


ALL_IN_ONE = {
    "barrier": "dissemination",
    "allgatherv": "ring",
    "gather": "binomial",
    "gatherv": "linear",
    "scatter": "binomial",
    "scatterv": "linear",
    "bcast": "chain",
    "alltoall": "bruck",
    "alltoallv": "pairwise",
    "reduce": "binomial",
    "allreduce": "ring",
    "reduce_scatter_block": "pairwise",
    "reduce_scatter": "ring",
    "scan": "binomial",
    "exscan": "recursive_doubling",
}


@pytest.mark.parametrize("collective", ALL_IN_ONE)
def test_every_collective(convene: Convene, collective: str) -> None:
    """By the MPI and by an algorithm of Convene's, with unequal blocks where there are any, and root 2."""
    real_program("openmpi")
    done = convene(
        *("bench", collective, "-n", 3, "--launcher", launcher_of("mpirun.openmpi"), "--sizes", "0,8,4000"),
        *("--algorithms", ALL_IN_ONE[collective], "--root", 2, "--repetitions", 2, "--json"),
        *(("--distributions", "regular,spike,half_full") if collective in bench.IRREGULAR else ()),
    )
    assert done.status == 0, done
    assert {"native", ALL_IN_ONE[collective]} == {row["algorithm"] for row in done.json["summary"]}
    sizes = 1 if collective == "barrier" else 3
    cases = sizes * (3 if collective in bench.IRREGULAR else 1)
    assert len({(row["bytes"], row["distribution"]) for row in done.json["summary"]}) == cases


@pytest.mark.parametrize("sync", ["barrier", "window"])
def test_delays_arrive(convene: Convene, tmp_path: Path, sync: str) -> None:
    """Rank 1 comes when it should, and never before; the others wait for it."""
    real_program("openmpi")
    path = tmp_path / "out.json"
    done = convene(
        *("bench", "allgather", "-n", 2, "--launcher", launcher_of("mpirun.openmpi"), "--sizes", 8),
        *("--algorithms", "ring", "--arrivals", "late:1:20ms", "--sync", sync, "--repetitions", 5),
        *("-o", path, "--metric", "elapsed", "--json"),
    )
    assert done.status == 0, done
    assert {row["arrivals"] for row in done.json["summary"]} == {"none", "late:1:20ms"}
    (run,) = bench_files.read(path)["runs"]
    late = next(cell for cell in run["sizes"] if cell["arrivals"] != "none")
    for contender in late["contenders"]:
        wanted = np.array(contender["wanted"])
        assert (bench_metrics.arrival_errors(contender)[bench_metrics.valid_observations(late)] >= 0).all()
        assert (wanted[:, 1] - wanted[:, 0] > 15e6).all()
    assert all(
        np.median(bench_metrics.values(late, bench_metrics.METRICS["waiting"])[i]) > 1e-3 for i in range(2)
    )


def test_a_study_beside_its_source(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None], tmp_path: Path
) -> None:
    """In the stand-in Sparbit comes first, and each further one is twice as slow."""
    make_program(with_times=True)
    done = convene(
        *("bench", "--study", "allgatherv", "-n", "3,4", "--launcher", make_launcher(OPEN_MPI)),
        *("--repetitions", 5, "-o", tmp_path / "out.json", "--json"),
    )
    assert done.status == 0, done
    rows = done.json["study"]["rows"]
    assert [row["distribution"] for row in rows] == [*bench.DISTRIBUTIONS[1:]]
    assert {row["cases"] for row in rows} == {2 * 4}
    assert {(row["best"], round(row["gain"]), round(row["highest"])) for row in rows} == {(100, 50, 50)}
    assert rows[0]["published"]["best"] == 78.6
    told = convene("bench", "--study", "allgatherv", "-n", "3", "--launcher", make_launcher(OPEN_MPI))
    assert "Sparbit is the best here in 100 % (broadcast)" in told.out
    assert "nowhere within 10 points" in told.out


def processes_with(word: str) -> dict[int, str]:
    """The processes that were told this word: their programs."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text().split("\0")
        except OSError:
            continue
        if any(word in each for each in words):
            found[int(path.parent.name)] = words[0]
    return found


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.mark.parametrize("victim", ["interrupted", "killed", "rank"])
def test_interruptions(tmp_path: Path, victim: str) -> None:
    """The driver gets Ctrl-C, or is killed, or a rank dies: nobody goes on alone, and what was measured is
    not measured again."""
    real_program("openmpi")
    output = tmp_path / "out.json"
    command = [
        *(
            sys.executable,
            "-m",
            "convene",
            "bench",
            "bcast",
            "-n",
            "2",
            "--algorithms",
            "",
            "-o",
            str(output),
        ),
        *("--launcher", launcher_of("mpirun.openmpi"), "--sizes", "8:64", "--seconds", "0.7"),
        *("--repetitions", "1000000"),
    ]
    driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    lines = tmp_path / "out.json.part" / "0001.jsonl"
    wait_for(lambda: lines.exists() and lines.read_text().count("\n") >= 2, "the first size is not measured")
    if victim == "rank":
        ranks = [pid for pid, name in processes_with(str(lines)).items() if "convene-bench" in name]
        os.kill(ranks[-1], signal.SIGKILL)
    else:
        driver.send_signal(signal.SIGINT if victim == "interrupted" else signal.SIGKILL)
    _, said = driver.communicate(timeout=60)
    assert driver.returncode == {"interrupted": 130, "killed": -signal.SIGKILL, "rank": 1}[victim], said
    assert victim == "killed" or "sizes are measured and kept" in said
    wait_for(lambda: not processes_with(str(lines)), "somebody measures on")
    assert not output.exists()

    measured = lines.read_text().count("\n") - 1
    subprocess.run([*command, "--resume"], check=True, stderr=subprocess.DEVNULL, timeout=60)
    (run,) = bench_files.read(output)["runs"]
    assert [cell["bytes"] for cell in run["sizes"]] == [8, 16, 32, 64]
    assert 1 <= measured < 4
    assert len(run["resumed"]) == 1


def test_wrong_results_are_found(convene: Convene, tmp_path: Path) -> None:
    """A drop-in library that swaps two bytes of every result: the program has to notice."""
    real_program("openmpi")
    compiler = stacks.find_program("mpicc.openmpi")
    if compiler is None:
        pytest.skip("there is no mpicc.openmpi")
    source = tmp_path / "wrong.c"
    source.write_text(WRONG)
    library = tmp_path / "wrong.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    found = bench.find_setting(launcher_of("mpirun.openmpi"), "openmpi")
    request = bench.Request("allgather", 2, [64], [bench.INTERCEPTED], repetitions=2, check="every")
    with pytest.raises(bench.RunError, match="intercepted delivered wrong data for 64 bytes per block"):
        bench.measure(replace(found, preload=library), request)


WRONG = """
#include <mpi.h>
int MPI_Allgather(const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to,
                  MPI_Comm comm) {
  int code = PMPI_Allgather(in, n, type, out, m, to, comm);
  char *bytes = out, first = bytes[10];
  bytes[10] = bytes[100];
  bytes[100] = first;
  return code;
}
"""
