# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate --engine smpi: the executor in SimGrid, where that is installed."""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from convene._core import RequestError
from convene.base import paths
from convene.simulate import platforms, smpi

pytestmark = pytest.mark.all  # simulations in SMPI

Convene = Any

LINK = {"latency": 1e-6, "bandwidth": 1e9}
PLATFORM = {
    "convene_platform": 1,
    "name": "small",
    "machine": "node:8 core:2",
    "within": {"node": {"latency": 1e-7, "bandwidth": 1e10}},
    "network": {"shape": "one_switch", "node": LINK},
    "processor": {"send": 1e-6, "recv": 5e-7, "copy": 0},
    "eager": "64KiB",
}

needs_simgrid = pytest.mark.skipif(
    shutil.which("smpirun") is None or paths.find(smpi.PROGRAM, paths.PROGRAMS) is None,
    reason="SimGrid is not installed, or Convene was built without it",
)


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(PLATFORM))
    return path


def simulate(convene: Convene, collective: str, platform: Path, *more: object) -> Any:
    done = convene("simulate", "sweep", collective, "--platform", platform, *more, "--json")
    assert done.status == 0, done.err
    return done.json


def times(result: Any) -> list[dict[str, float]]:
    """By size and name."""
    return [{each["name"]: each["seconds"][0] for each in size["contenders"]} for size in result["sizes"]]


@needs_simgrid
def test_a_run_in_smpi_can_be_interrupted(platform: Path) -> None:
    machine = platforms.Platform(platform.read_text(), str(platform))
    long = ((0.0,) * 16,) * 100_000
    case = smpi.SmpiCase("allgather", "ring", 16, (8,), machine, "sequential", long)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(case.simulate)
        while not smpi.SmpiCase.running:
            time.sleep(0.01)
        time.sleep(0.3)
        smpi.SmpiCase.stop(stop=True)
        with pytest.raises(RequestError, match="SMPI could not run ring"):
            running.result(60)
    assert not smpi.SmpiCase.running
    with pytest.raises(RequestError, match="SMPI could not run ring"):
        case.simulate()  # one that just begins
    smpi.SmpiCase.stop(stop=False)


@needs_simgrid
@pytest.mark.parametrize("collective", ["allgather", "gather", "scatter", "bcast", "reduce"])
def test_the_simulator_and_the_executor_agree(convene: Convene, platform: Path, collective: str) -> None:
    """Two independent simulations, and in one of them the code that runs in programs."""
    names = "binomial" if collective != "allgather" else "ring,recursive_doubling,bruck"
    arguments = ("-p", 8, "--sizes", "8,1KiB,32KiB", "--algorithms", names, "--mapping", "0,1,2,3,4,5,6,7")
    simulated = times(simulate(convene, collective, platform, *arguments, "--contention", "maxmin"))
    run = times(simulate(convene, collective, platform, *arguments, "--engine", "smpi"))
    assert [set(one) for one in run] == [set(names.split(","))] * 3
    for one, other in zip(simulated, run, strict=True):
        for name, seconds in one.items():
            assert other[name] == pytest.approx(seconds, rel=0.02), name


@needs_simgrid
def test_exchanges_that_share_links_agree(convene: Convene, platform: Path) -> None:
    """Two ranks a node, which exchange with those of another node, and then of a third one."""
    arguments = ("-p", 8, "--sizes", "1MiB", "--algorithms", "recursive_doubling")
    (simulated,) = times(simulate(convene, "allgather", platform, *arguments, "--contention", "maxmin"))
    (run,) = times(simulate(convene, "allgather", platform, *arguments, "--engine", "smpi"))
    assert run == pytest.approx(simulated, rel=0.02)


@needs_simgrid
@pytest.mark.parametrize(
    ("collective", "names"), [("reduce", "local_redirect"), ("bcast", "arrival_b,arrival_nb")]
)
def test_online_algorithms_agree_with_the_simulator(
    convene: Convene, platform: Path, collective: str, names: str
) -> None:
    """In SMPI ranks decide while they run; the built-in simulator assumes rounds of equal
    length, so a message may take another path: less than a tenth where delays are longer than messages."""
    arguments = ("-p", 8, "--sizes", "8,32KiB", "--algorithms", names, "--arrivals", "uniform:1ms")
    simulated = times(simulate(convene, collective, platform, *arguments))
    run = times(simulate(convene, collective, platform, *arguments, "--engine", "smpi"))
    for one, other in zip(simulated, run, strict=True):
        for name, seconds in one.items():
            assert other[name] == pytest.approx(seconds, rel=0.1), name


@pytest.mark.sampled(default=3, all=10)
@needs_simgrid
@pytest.mark.parametrize(
    "collective", ["allgather", "gather", "scatter", "bcast", "reduce", "allreduce", "alltoall"]
)
@pytest.mark.parametrize("procs", [5, 8])
def test_all_algorithms_deliver_in_smpi(
    convene: Convene, platform: Path, collective: str, procs: int
) -> None:
    """The program that runs there ends everything where a byte is wrong."""
    arguments = ("-p", procs, "--sizes", "100,70000", "--engine", "smpi", "--arrivals", "late:2:1ms")
    result = simulate(convene, collective, platform, *arguments)
    simulated = simulate(convene, collective, platform, "-p", procs, "--sizes", 100)
    for one in times(result):
        assert list(one) == list(times(simulated)[0])
        assert all(seconds > 0 for seconds in one.values())


@needs_simgrid
def test_what_depends_on_nodes_delivers_too(convene: Convene, platform: Path) -> None:
    for mapping in ("sequential", "cyclic"):
        words = ("-p", 12, "--sizes", "100,70000", "--engine", "smpi", "--mapping", mapping)
        result = simulate(
            convene, "allgather", platform, *words, "--algorithms", "hier(ring,linear),remap(bruck)"
        )
        assert all(seconds > 0 for one in times(result) for seconds in one.values())


@needs_simgrid
def test_baselines_run_beside_and_results_repeat(convene: Convene, platform: Path) -> None:
    arguments = (
        "-p",
        6,
        "--sizes",
        64,
        "--algorithms",
        "ring",
        "--engine",
        "smpi",
        "--baselines",
        "ompi,smpi:ring",
    )
    first = simulate(convene, "allgather", platform, *arguments)
    assert list(times(first)[0]) == ["ring", "smpi:ompi", "smpi:ring"]
    assert first["options"]["engine"] == "smpi"
    assert first == simulate(convene, "allgather", platform, *arguments)
    done = convene("simulate", "sweep", "allgather", "--platform", platform, *arguments)
    assert "smpi:ompi" in done.out
    assert "busiest" not in done.out


@needs_simgrid
@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("-p", 17, "--engine", "smpi"), "small has 16"),
        (("-p", 4, "--engine", "smpi", "--baselines", "nonsense"), "no algorithm 'nonsense'"),
        (("-p", 4, "--engine", "smpi", "--baselines", "a b"), "invalid name 'a b'"),
        (("-p", 1000, "--engine", "smpi"), "at most 512"),
    ],
)
def test_what_smpi_cannot_do_is_said(
    convene: Convene, platform: Path, words: tuple[object, ...], part: str
) -> None:
    done = convene("simulate", "sweep", "allgather", "--platform", platform, "--algorithms", "ring", *words)
    assert part in done.complaint


def test_without_simgrid_it_says_so(
    convene: Convene, platform: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("simulate", "sweep", "allgather", "--platform", platform, "-p", 4)
    assert "add --engine smpi" in convene(*arguments, "--baselines", "ompi").complaint
    assert "builtin" in convene(*arguments, "--engine", "plaier").complaint
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "install SimGrid" in convene(*arguments, "--engine", "smpi").complaint
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(paths, "PROGRAMS", ())
    assert "built without SimGrid" in convene(*arguments, "--engine", "smpi").complaint


def test_a_platform_is_exported(convene: Convene, platform: Path, tmp_path: Path) -> None:
    output = tmp_path / "small.xml"
    assert convene("simulate", "export", platform, "-p", 4, "-o", output).status == 0
    text = output.read_text()
    assert text.count("<host ") == 4
    assert text.count("<route ") == 12
    assert "at most 512" in convene("simulate", "export", platform, "-p", 600, "-o", output).complaint
