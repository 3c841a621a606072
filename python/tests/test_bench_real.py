# SPDX-License-Identifier: BSD-3-Clause
"""convene bench on every MPI at hand: that it measures what it says, and what becomes of interruptions."""

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
from convene import _core
from convene.base import paths
from convene.bench import files, metrics, program, requests
from convene.catalogue import collectives, selection
from convene.mpi import launchers, processes, settings, stacks

pytestmark = pytest.mark.all  # real measurements

Convene = Any
MakeLauncher = Callable[[str], Any]


def real_program(stack: str) -> None:
    if paths.find(f"convene-bench-{stack}", paths.PROGRAMS) is None:
        pytest.skip(f"convene-bench-{stack} is not built")


def launcher_of(name: str) -> str:
    """A launcher that is there: one of the checkout's own, or the system's."""
    found = launchers.find_program(name)
    if found is None:
        pytest.skip(f"{name} not found")
    return str(found)


@pytest.mark.parametrize(
    ("launcher", "stack"), stacks.MPIS, ids=lambda text: Path(text).parent.parent.name + text[-7:]
)
def test_a_real_measurement(convene: Convene, launcher: str, stack: str) -> None:
    """On every MPI: all that can run, results checked after every observation, with a native one."""
    real_program(stack)
    own = {"openmpi": ",mpi:ring", "mpich": ",mpi:ring", "abi": ""}[stack]
    done = convene(
        *("bench", "run", "allgather", "-n", 3, "--launcher", launcher_of(launcher), "--stack", stack),
        *("--sizes", "0,8,1KiB", "--against", f"native{own}", "--repetitions", 3, "--json"),
    )
    assert done.status == 0, done
    assert {row["algorithm"] for row in done.json["summary"]} >= {"native", "ring", "sparbit", "bruck"}
    assert all(row["median"] > 0 for row in done.json["summary"])


def test_the_mpich_of_the_launcher_is_measured(convene: Convene) -> None:
    """The program may be linked with another version, whose library has another name."""
    real_program("mpich")
    launcher = launcher_of(f"{stacks.INSTALLED}/mpich5/bin/mpiexec")
    words = ("--launcher", launcher, "--stack", "mpich", "--algorithms", "ring")
    done = convene("bench", "run", "allgather", "-n", 1, *words, "--sizes", 8, "--repetitions", 2)
    assert "MPICH Version: 5" in done.out, done


@pytest.mark.parametrize(("launcher", "stack"), stacks.MPIS[:2], ids=["4", "5"])
def test_the_mpi_really_takes_what_is_chosen(convene: Convene, launcher: str, stack: str) -> None:
    """Open MPI's algorithm for two processes refuses three: so it must have been taken, and for its own
    contender alone."""
    real_program(stack)
    arguments = ("bench", "run", "allgather", "-n", 3, "--launcher", launcher_of(launcher), "--sizes", 8)
    shared = ("--repetitions", 2, "--algorithms", "ring")
    refused = convene(*arguments, *shared, "--against", "native,mpi:two_proc")
    assert refused.status == 1
    assert "mpi:two_proc failed" in refused.err
    assert convene(*arguments, *shared, "--against", "mpi:linear,native").status == 0
    unknown = convene(*arguments, *shared, "--against", "mpi:no_such")
    assert "no algorithm 'no_such'" in unknown.complaint
    assert "recursive_doubling" in unknown.complaint


def test_algorithms_with_a_forecast(convene: Convene, tmp_path: Path) -> None:
    """Results are checked; the truth helps more than an error of this size can hide."""
    real_program("openmpi")
    file = tmp_path / "received.json"
    kinds = [f"clairvoyant{received}" for received in ("", "@truth", "@average", "@mirrored")]
    done = convene(
        *("bench", "run", "reduce", "-n", 3, "--launcher", launcher_of("mpirun.openmpi"), "--sizes", "64KiB"),
        *("--arrivals", "late:2:3ms,uniform:2ms", "--algorithms", ",".join(kinds), "--repetitions", 8),
        *("--type", "int", "-o", file, "--json"),
    )
    assert done.status == 0, done
    assert {row["algorithm"] for row in done.json["summary"]} == {"native", *kinds}
    page = convene("report", file)
    assert page.status == 0, page
    assert "clairvoyant@mirrored" in file.with_suffix(".html").read_text()


ALL_IN_ONE = {
    "barrier": "dissemination",
    "neighbor_allgather": "combining",
    "neighbor_allgatherv": "linear",
    "neighbor_alltoall": "combining",
    "neighbor_alltoallv": "combining",
    "allgatherv": "ring",
    "gather": "binomial",
    "gatherv": "linear",
    "scatter": "binomial",
    "scatterv": "linear",
    "bcast": "chain",
    "alltoall": "bruck",
    "alltoallv": "pairwise",
    "alltoallw": "pairwise",
    "reduce": "binomial",
    "allreduce": "ring",
    "reduce_scatter_block": "pairwise",
    "reduce_scatter": "ring",
    "scan": "binomial",
    "exscan": "recursive_doubling",
}


@pytest.mark.sampled(default=5, all=8)
@pytest.mark.parametrize("collective", ALL_IN_ONE)
def test_every_collective(convene: Convene, collective: str) -> None:
    """By the MPI and by an algorithm of Convene's, with unequal blocks and a root where there are any."""
    real_program("openmpi")
    done = convene(
        *(
            "bench",
            "run",
            collective,
            "-n",
            3,
            "--launcher",
            launcher_of("mpirun.openmpi"),
            "--repetitions",
            2,
        ),
        *("--algorithms", ALL_IN_ONE[collective], "--json"),
        *(("--root", 2) if _core.is_rooted(collective) else ()),
        *(("--sizes", "0,8,4000") if collective not in collectives.WITHOUT_SIZES else ()),
        *(("--distributions", "regular,spike,half_full") if collective in collectives.IRREGULAR else ()),
    )
    assert done.status == 0, done
    assert {"native", ALL_IN_ONE[collective]} == {row["algorithm"] for row in done.json["summary"]}
    sizes = 1 if collective == "barrier" else 3
    cases = sizes * (3 if collective in collectives.IRREGULAR else 1)
    assert len({(row["bytes"], row["distribution"]) for row in done.json["summary"]}) == cases


@pytest.mark.parametrize("sync", ["barrier", "window"])
def test_delays_arrive(convene: Convene, tmp_path: Path, sync: str) -> None:
    """Rank 1 comes when it should, and never before; the others wait for it."""
    real_program("openmpi")
    path = tmp_path / "out.json"
    done = convene(
        *("bench", "run", "allgather", "-n", 2, "--launcher", launcher_of("mpirun.openmpi"), "--sizes", 8),
        *("--algorithms", "ring", "--arrivals", "late:1:20ms", "--sync", sync, "--repetitions", 5),
        *("-o", path, "--metric", "elapsed", "--json"),
    )
    assert done.status == 0, done
    assert {row["arrivals"] for row in done.json["summary"]} == {"none", "late:1:20ms"}
    (run,) = files.read(path)["runs"]
    late = next(cell for cell in run["sizes"] if cell["arrivals"] != "none")
    for contender in late["contenders"]:
        wanted = np.array(contender["wanted"])
        assert (metrics.arrival_errors(contender)[metrics.valid_observations(late)] >= 0).all()
        assert (wanted[:, 1] - wanted[:, 0] > 15e6).all()
    assert all(np.median(metrics.values(late, metrics.METRICS["waiting"])[i]) > 1e-3 for i in range(2))


def processes_with(word: str) -> dict[int, str]:
    """The processes that were received this word: their programs."""
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
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


SIGNALS = {"interrupted": signal.SIGINT, "terminated": signal.SIGTERM, "killed": signal.SIGKILL}
STATUS = {"interrupted": 130, "terminated": 128 + signal.SIGTERM, "killed": -signal.SIGKILL, "rank": 1}


@pytest.mark.sampled(default=1, all=2)
@pytest.mark.parametrize("victim", STATUS)
def test_interruptions(tmp_path: Path, victim: str) -> None:
    """The driver gets Ctrl-C or SIGTERM, or is killed, or a rank dies: no process stays; what was measured
    is not measured again."""
    real_program("openmpi")
    output = tmp_path / "out.json"
    command = [
        *(
            sys.executable,
            "-m",
            "convene",
            "bench",
            "run",
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
        driver.send_signal(SIGNALS[victim])
    _, said = driver.communicate(timeout=240)
    assert driver.returncode == STATUS[victim], said
    if victim != "killed":
        kept = f"of 4 sizes are measured and kept in {lines.parent}; run the same command with --resume"
        assert kept in said
        assert "Traceback" not in said
    wait_for(lambda: not processes_with(str(lines)), "somebody measures on")
    assert not output.exists()

    measured = lines.read_text().count("\n") - 1
    subprocess.run([*command, "--resume"], check=True, stderr=subprocess.DEVNULL, timeout=240)
    (run,) = files.read(output)["runs"]
    assert [cell["bytes"] for cell in run["sizes"]] == [8, 16, 32, 64]
    assert 1 <= measured < 4
    assert len(run["resumed"]) == 1


def test_wrong_results_are_found(convene: Convene, tmp_path: Path) -> None:
    """A drop-in library that swaps two bytes of every result: the program has to notice."""
    real_program("openmpi")
    compiler = launchers.find_program("mpicc.openmpi")
    if compiler is None:
        pytest.skip("there is no mpicc.openmpi")
    source = tmp_path / "wrong.c"
    source.write_text(WRONG)
    library = tmp_path / "wrong.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    found = settings.find_setting(launcher_of("mpirun.openmpi"), "openmpi")
    request = requests.Request("allgather", 2, [64], [selection.INTERCEPTED], repetitions=2, check="every")
    with pytest.raises(processes.RunError, match="intercepted delivered wrong data for 64 bytes per block"):
        program.measure(replace(found, preload=library), request)


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
