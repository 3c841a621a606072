# SPDX-License-Identifier: BSD-3-Clause
"""convene bench with a stand-in for the program: what it asks for, prints and writes, and how it fails."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from convene import _core
from convene.base import paths
from convene.bench import files, requests

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
        *("bench", "run", "allgather", "-n", 2, "--launcher", launcher, "--sizes", "8,4KiB"),
        *("--algorithms", "ring,sparbit;send=packed", "--against", "native"),
    )
    assert done.status == 0, done
    assert "allgather, 2 ranks, Some MPI 1.0" in done.out
    lines = [line.split() for line in done.out.splitlines()]
    first = next(line for line in lines if "native" in line and "µs" in line)
    assert first[:5] == ["8", "B", "native", "1.02", "µs"]
    ratios = {line[0]: line[-4] for line in lines if line and line[0] in ("ring", "sparbit;send=packed")}
    assert ratios == {"ring": "2.000", "sparbit;send=packed": "4.000"}
    assert "4 KiB" in done.out
    assert done.err == ""


def test_what_the_ranks_are_told(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program()
    launcher = make_launcher(OPEN_MPI)
    done = convene(
        *(
            "bench",
            "run",
            "allgatherv",
            "-n",
            3,
            "--launcher",
            f"{launcher} --bind-to-nothing",
            "--sizes",
            "16:64",
        ),
        *("--algorithms", "ring", "--against", "mpi:ring,native", "--repetitions", 7, "--check", "once"),
    )
    assert done.status == 0, done
    words = launcher.received["arguments"]
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
    done = convene("bench", "run", "allgather", "-n", 3, "--launcher", launcher, "--sizes", 8, "--json")
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
        "bench", "run", "allgather", "-n", 2, "--launcher", launcher, "--sizes", "8", "-o", path, "--json"
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
        *("bench", "run", "allgather", "-n", 3, "--launcher", make_launcher(OPEN_MPI), "--sizes", 8),
        *("--algorithms", "ring"),
    )
    assert done.status == 0
    assert "a load of 7.5 on 2 cores" in done.err
    assert "3 ranks shared 2 cores" in done.err


def test_several_numbers_of_ranks(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program()
    done = convene(
        *("bench", "run", "bcast", "-n", "2,3", "--launcher", make_launcher(OPEN_MPI), "--sizes", "8,16"),
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
    command = ("bench", "run", "bcast", "-n", 2, "--launcher", launcher, "--algorithms", "", "-o", path)
    sizes = ("--sizes", "8,16,32")
    died = convene(*command, *sizes)
    assert died.status == 1
    assert "1 of 3 sizes are measured and kept in" in died.err
    assert not path.exists()

    assert "add --resume" in convene(*command, *sizes).complaint
    assert "sizes was [8, 16, 32], now [8]" in convene(*command, "--sizes", "8", "--resume").complaint
    make_program()
    assert convene(*command, *sizes, "--resume").status == 0
    words = launcher.received["arguments"]
    assert words[words.index("--sizes") + 1] == "16,32"
    written = files.read(path)
    assert [cell["bytes"] for cell in written["runs"][0]["sizes"]] == [8, 16, 32]
    assert "nothing to resume" in convene(*command, *sizes, "--resume").complaint


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text, words in (
        ('{"format": 2, "collective": "bcast", "runs": [{"si', "is cut off"),
        ('{"format": 2, "collective": "bcast", "runs": [', "is cut off"),
        ("hello", "is not JSON"),
        ('{"a": 1}', "is not a measurement"),
        ('{"format": 9, "collective": "bcast", "runs": []}', "has format 9"),
    ):
        path.write_text(text)
        with pytest.raises(_core.RequestError, match=words):
            files.read(path)


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
    done = convene("bench", "run", "allgather", "-n", 2, "--launcher", make_launcher(OPEN_MPI), "--sizes", 8)
    assert done.status == (2 if status == 2 else 1)
    assert done.err == f"convene: {expected}\n"
    assert done.out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("alltoal", "-n", "2"), "there is no collective 'alltoal'"),
        (("allgather",), "Missing option '-n' / '--procs'; see --help"),
        ((), "Missing argument 'COLLECTIVE'; see --help"),
        (("allgather", "-n", "2", "--full"), "No such option: --full"),
        (("allgather", "-n", "0"), "-n must be whole numbers from 1"),
        (("allgather", "-n", "2", "--distributions", "spike"), "allgather has blocks of equal size"),
        (("allgatherv", "-n", "2", "--distributions", "spyke"), "'spyke' of --distributions; choose regular"),
        (
            ("allgather", "-n", "2", "--root", "0"),
            "--root cannot be combined with allgather, which has no root",
        ),
        (("bcast", "-n", "2", "--op", "max"), "--op cannot be combined with bcast"),
        (("barrier", "-n", "2", "--sizes", "8"), "--sizes cannot be combined with barrier"),
        (
            ("bcast", "-n", "2", "--arrivals", "half:5ms", "--batch", "9"),
            "--batch cannot be combined with --arrivals",
        ),
        (("bcast", "-n", "2", "--window", "9"), "--window cannot be combined with --sync barrier"),
        (("allgather", "-n", "2", "--arrivals", "unifrom:5ms"), "did you mean uniform?"),
        (
            ("allgather", "-n", "2", "--arrivals", "late:2:5ms"),
            "names rank 2, which is out of range (2 processes)",
        ),
        (("allgather", "-n", "2", "--metric", "oso"), "did you mean osu?"),
        (("allreduce", "-n", "2", "--type", "byte"), "cannot combine bytes"),
        (("bcast", "-n", "2,4", "--root", "2"), "--root 2 is out of range (2 ranks)"),
        (("bcast", "-n", "2", "--sync", "clock"), "'clock' of --sync; choose barrier, window"),
        (("bcast", "-n", "2", "--resume"), "--resume needs -o"),
        (("allgather", "-n", "3", "--algorithms", "recursive_doubling"), "power of two, not 3"),
        (("allgather", "-n", "2", "--algorithms", "rinq"), "did you mean ring?"),
        (("allgather", "-n", "2", "--algorithms", "", "--against", ""), "name an algorithm"),
        (("allgather", "-n", "2", "--sizes", "1MiB:8"), "is empty"),
        (("allgather", "-n", "2", "--sizes", "8:64:1"), "factor '1'"),
        (("allgather", "-n", "2", "--sizes", "8:64:2:2"), "invalid range"),
        (("allgather", "-n", "2", "--sizes", "4GiB"), "is too large"),
        (("allgather", "-n", "2", "--sizes", "many"), "'many' is not a size"),
        (("allgather", "-n", "2", "--repetitions", "1"), "repetitions"),
        (("allgather", "-n", "2", "--launcher", "no-such-mpirun"), "'no-such-mpirun' not found"),
        (("allgather", "-n", "2", "--launcher", ""), "--launcher is empty"),
        (("allgather", "-n", "2", "--stack", "lam"), "there is no stack 'lam'"),
        (("allgather", "-n", "2", "-o", "out.txt"), "-o out.txt must end in .json"),
        (("allgather", "-n", "2", "-o", "no/such/place/out.json"), "does not exist"),
    ],
)
def test_wrong_requests(convene: Convene, arguments: tuple[str, ...], words: str) -> None:
    assert words in convene("bench", "run", *arguments).complaint


def test_stacks_that_do_not_fit(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None]
) -> None:
    make_program()
    done = convene(
        "bench", "run", "allgather", "-n", 2, "--launcher", make_launcher(OPEN_MPI), "--stack", "mpich"
    )
    assert "--stack mpich does not match" in done.complaint


def test_a_program_that_is_not_built(
    convene: Convene, make_launcher: MakeLauncher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(paths, "PROGRAMS", (tmp_path,))
    done = convene("bench", "run", "allgather", "-n", 2, "--launcher", make_launcher(OPEN_MPI))
    assert "convene-bench-openmpi not found in" in done.complaint


def test_a_study_beside_its_source(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., None], tmp_path: Path
) -> None:
    """In the stand-in Sparbit comes first, and each further one is twice as slow."""
    make_program(with_times=True)
    done = convene(
        *("bench", "study", "allgatherv", "-n", "3,4", "--launcher", make_launcher(OPEN_MPI)),
        *("--repetitions", 5, "-o", tmp_path / "out.json", "--json"),
    )
    assert done.status == 0, done
    rows = done.json["study"]["rows"]
    assert [row["distribution"] for row in rows] == [*requests.DISTRIBUTIONS[1:]]
    assert {row["cases"] for row in rows} == {2 * 4}
    assert {(row["best"], round(row["gain"]), round(row["highest"])) for row in rows} == {(100, 50, 50)}
    assert rows[0]["published"]["best"] == 78.57
    received = convene("bench", "study", "allgatherv", "-n", "3", "--launcher", make_launcher(OPEN_MPI))
    assert "Sparbit is the best here in 100 % (broadcast)" in received.out
    assert "nowhere within 10 points" in received.out


def test_forecasts_that_nobody_can_be_given(convene: Convene) -> None:
    def complaint(collective: str, algorithms: str) -> str:
        done = convene("bench", "run", collective, "-n", 2, "--algorithms", algorithms)
        assert done.status == 2
        return str(done.complaint)

    assert "did you mean truth" in complaint("reduce", "clairvoyant@trth")
    assert "reduce=binomial uses no forecast" in complaint("reduce", "binomial@truth")
    assert "one that does: clairvoyant" in complaint("reduce", "binomial@truth")
    assert "use another collective" in complaint("alltoall", "bruck@average")
    assert "native" in complaint("reduce", "native@truth")


def test_predictions_are_given_no_forecast(convene: Convene) -> None:
    for algorithms in ("bdr@truth", "all,bdr@truth"):
        done = convene("predict", "allgather", "--winners", "--algorithms", algorithms)
        assert done.status == 2, done
