# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from convene import _core
from convene.model import platform_files
from convene.simulate import cases, platforms
from convene.simulate.cases import Case
from convene.studies.sparbit import simulated as sparbit_simulated

Convene = Any


def simulate(convene: Convene, platform: Path, *more: object, collective: str = "allgather") -> Any:
    done = convene("simulate", "sweep", collective, "--platform", platform, *more, "--json")
    assert done.status == 0, done.err
    return done.json


def test_a_ring_takes_its_latencies_and_its_bytes(convene: Convene, platform: Path) -> None:
    nodes = ",".join(map(str, range(8)))
    arguments = ("-p", 8, "--sizes", 1000, "--algorithms", "ring", "--mapping", nodes)
    result = simulate(convene, platform, *arguments)
    (ring,) = result["sizes"][0]["contenders"]
    assert ring["seconds"] == [pytest.approx(7 * 3e-6, abs=1e-9)]
    assert ring["messages"] == 56
    assert ring["sent"] == 56 * 1000
    assert ring["channels"]["node"] == pytest.approx(1 / 3, abs=1e-3)


def test_the_result_has_the_shape_of_a_measurement(convene: Convene, platform: Path, tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    done = convene(
        "simulate", "sweep", "allgather", "--platform", platform, "-p", 6, "--sizes", "8,64", "-o", output
    )
    assert done.status == 0
    result = json.loads(output.read_text())
    assert result["collective"] == "allgather"
    assert result["procs"] == 6
    assert [size["bytes"] for size in result["sizes"]] == [8, 64]
    names = [contender["name"] for contender in result["sizes"][0]["contenders"]]
    assert "sparbit" in names
    assert "native" not in names
    assert all(contender["seconds"][0] > 0 for size in result["sizes"] for contender in size["contenders"])
    assert "sparbit" in done.out


def test_results_do_not_depend_on_the_run(convene: Convene, platform: Path) -> None:
    arguments = ("-p", 16, "--sizes", 4096, "--arrivals", "uniform:50us", "--repetitions", 3)
    first = simulate(convene, platform, *arguments)
    assert first == simulate(convene, platform, *arguments)
    seconds = first["sizes"][0]["contenders"][0]["seconds"]
    assert len(set(seconds)) == 3


def test_a_late_rank_makes_the_others_wait(convene: Convene, platform: Path) -> None:
    arguments = ("-p", 4, "--sizes", 8, "--algorithms", "ring", "--arrivals", "late:2:5ms")
    result = simulate(convene, platform, *arguments, "--critical-path")
    (ring,) = result["sizes"][0]["contenders"]
    assert ring["seconds"][0] > 5e-3
    assert ring["waiting"][0] > 3 / 4 * 5e-3
    assert 5e-3 < ring["lower_bound"][0] <= ring["seconds"][0]
    assert 3 / 4 * 5e-3 < ring["mean_lower_bound"][0] <= ring["mean"][0]
    assert ring["critical_path"][0]["rank"] == 2


def test_arrivals_from_a_file(convene: Convene, platform: Path, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("# two calls of three ranks\n0 0.001 0\n0, 2ms, 0\n")
    result = simulate(convene, platform, "-p", 3, "--sizes", 8, "--algorithms", "ring", "--arrivals", path)
    first, second = result["sizes"][0]["contenders"][0]["seconds"]
    assert second - first == pytest.approx(1e-3)


def test_arrivals_are_those_of_measurements(convene: Convene, platform: Path) -> None:
    arguments = ("-p", 4, "--sizes", 8, "--algorithms", "ring", "--repetitions", 3)
    for pattern, patterns in (("linear:6ms", 1), ("gamma:2:1ms", 3), ("late:any:5ms", 3)):
        result = simulate(convene, platform, *arguments, "--arrivals", pattern)
        assert len(result["sizes"][0]["contenders"][0]["seconds"]) == patterns


def test_a_platform_of_the_models_is_another_kind(convene: Convene) -> None:
    path = platform_files.FOLDER / "metropolis.json"
    done = convene("simulate", "sweep", "allgather", "--platform", path, "-p", 4)
    assert "is a platform for convene predict" in done.complaint


def test_the_exact_mode_agrees_where_nothing_contends(convene: Convene, platform: Path) -> None:
    arguments = ("-p", 8, "--sizes", 1000, "--algorithms", "ring", "--mapping", "0,1,2,3,4,5,6,7")
    fast = simulate(convene, platform, *arguments)
    exact = simulate(convene, platform, *arguments, "--contention", "maxmin")
    assert fast["sizes"][0]["contenders"][0]["seconds"] == pytest.approx(
        exact["sizes"][0]["contenders"][0]["seconds"], abs=1e-10
    )


def test_an_order_that_was_compiled_waits_for_certain_messages(convene: Convene, platform: Path) -> None:
    """With one rank that is late, others do what they can without an order."""
    arguments = ("-p", 8, "--sizes", 8192, "--algorithms", "clairvoyant", "--arrivals", "late:3:1ms")
    free = simulate(convene, platform, *arguments, collective="reduce")
    ordered = simulate(convene, platform, *arguments, "--order", "compiled", collective="reduce")
    assert ordered["options"]["order"] == "compiled"
    assert ordered["sizes"][0]["contenders"][0]["seconds"] > free["sizes"][0]["contenders"][0]["seconds"]


@pytest.mark.parametrize("collective", ["allgather", "bcast", "reduce", "allreduce", "barrier"])
@pytest.mark.parametrize("procs", [1, 2, 7, 8])
def test_every_algorithm_plays_to_its_end_in_its_order(collective: str, procs: int, platform: Path) -> None:
    cores = {**json.loads(platform.read_text()), "machine": "node:1 core:8"}
    machine = platforms.Platform(json.dumps(cores), "one node")
    for known in _core.algorithms(collective):
        name = known["name"]
        if known["native"] or known["parts"] or _core.unmet(collective, name, procs):
            continue
        arrivals = (tuple(1e-6 * (rank % 3) for rank in range(procs)),)
        case = Case(collective, name, procs, (0, 8, 4096), machine, ",".join("0" * procs), arrivals)
        free = case.simulate()
        ordered = replace(case, ordered=True).simulate()
        assert [run["messages"] for (run,) in ordered] == [run["messages"] for (run,) in free]


def test_platforms_that_come_along_are_read() -> None:
    assert set(platforms.known_platforms()) >= {"yahoo", "cervino", "tryton", "curie", "chic"}
    for name in platforms.known_platforms():
        platform = platforms.load_platform(name)
        assert platform.name == name
        assert json.loads(platform.text)["assumed"]
        request = _core.SimulationRequest(
            collective="allgather",
            spec="sparbit",
            procs=8,
            sizes=[64],
            placement="cyclic",
            arrivals=[[0.0] * 8],
        )
        assert _core.simulate(request, platform.parsed)


@pytest.mark.parametrize(
    "collective",
    ["allgather", "gather", "scatter", "bcast", "alltoall", "reduce", "allreduce", "reduce_scatter"],
)
def test_blocks_of_any_few_bytes_are_played(convene: Convene, platform: Path, collective: str) -> None:
    """Fewer bytes than segments, in scratch too: what is not sent at one end is not awaited at the other."""
    done = convene(
        "simulate",
        "sweep",
        collective,
        "--platform",
        platform,
        "-p",
        10,
        "--sizes",
        "1,3,8,16,63,64,65",
        "--json",
    )
    assert done.status == 0, done.err


def test_a_root_can_be_chosen(convene: Convene, platform: Path) -> None:
    done = convene(
        "simulate", "sweep", "bcast", "--platform", platform, "-p", 5, "--root", 3, "--sizes", 64, "--json"
    )
    assert done.status == 0, done.err
    assert done.json["root"] == 3
    assert all(contender["seconds"][0] > 0 for contender in done.json["sizes"][0]["contenders"])


def test_more_ranks_than_cores_share_them(convene: Convene, platform: Path) -> None:
    few = simulate(convene, platform, "-p", 16, "--sizes", 8, "--algorithms", "bruck")
    many = simulate(convene, platform, "-p", 32, "--sizes", 8, "--algorithms", "bruck")
    assert many["sizes"][0]["contenders"][0]["seconds"] > few["sizes"][0]["contenders"][0]["seconds"]


def test_noise_makes_it_slower_and_repeats(convene: Convene, platform: Path) -> None:
    words = ("-p", 8, "--sizes", 64, "--algorithms", "ring", "--repetitions", 5)
    (quiet,) = simulate(convene, platform, *words)["sizes"][0]["contenders"]
    assert len(quiet["seconds"]) == 1
    for kind in ("exponential:1us", "pareto:1us:1.5", "bernoulli:0.5:1us"):
        result = simulate(convene, platform, *words, "--noise", kind)
        (noisy,) = result["sizes"][0]["contenders"]
        assert len(set(noisy["seconds"])) == 5 or (kind[0] == "b" and len(set(noisy["seconds"])) > 1)
        assert min(noisy["seconds"]) > quiet["seconds"][0]
        assert result == simulate(convene, platform, *words, "--noise", kind)
        other = simulate(convene, platform, *words, "--noise", kind, "--seed", 100)
        assert other["sizes"] != result["sizes"]
    # With certainty it is like a processor that takes so long: each rank's 7 sends and 7 receives.
    certain = simulate(convene, platform, *words, "--noise", "bernoulli:1:1us")["sizes"][0]["contenders"][0]
    assert certain["seconds"][0] >= quiet["seconds"][0] + 8e-6


@pytest.mark.parametrize(
    ("noise", "part"),
    [
        ("loud", "unknown noise"),
        ("pareto:1us:1", "above 1"),
        ("bernoulli:2:1us", "from 0 to 1"),
        ("exponential:x", "'x' for the mean of --noise"),
    ],
)
def test_impossible_noise_is_refused(convene: Convene, platform: Path, noise: str, part: str) -> None:
    done = convene("simulate", "sweep", "allgather", "--platform", platform, "-p", 4, "--noise", noise)
    assert part in done.complaint


def test_all_algorithms_are_those_that_are_possible(
    convene: Convene, platform: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases, "SMALL", 4)
    refused = {"ring": "too many steps"}
    monkeypatch.setattr(Case, "refusal", lambda case: refused.get(case.spec, ""))
    words = ("simulate", "sweep", "allgather", "--platform", platform, "-p", 8, "--sizes", 8, "--json")
    done = convene(*words)
    assert done.status == 0
    assert "leaving out ring: too many steps" in done.err
    assert done.json["options"]["left_out"] == refused
    names = [contender["name"] for contender in done.json["sizes"][0]["contenders"]]
    assert "ring" not in names
    assert "sparbit" in names
    assert convene(*words, "--algorithms", "ring,sparbit").complaint == "too many steps"


@pytest.mark.parametrize("spec", ["recursive_doubling", "bruck", "bruck;ports=3", "dissemination"])
def test_one_schedule_stands_for_all(spec: str, platform: Path) -> None:
    """Blocks that are given one by one are simulated with a schedule for each rank."""
    procs = 4096
    machine = platforms.load_platform(str(platform)).with_nodes(procs // 2)
    arrivals = [[1e-6 * (rank * 7 % 13) for rank in range(procs)]]
    request = _core.SimulationRequest(
        collective="allgather", spec=spec, procs=procs, sizes=[8.0], arrivals=arrivals, exits=True
    )
    (one,) = _core.simulate(request, machine.parsed)
    request.blocks = [[8.0] * procs]
    (each,) = _core.simulate(request, machine.parsed)
    assert one == each


def test_large_plans_are_counted_whole() -> None:
    platform = platforms.load_platform("yahoo")

    def refusal(collective: str, spec: str, procs: int, root: int = 0) -> str:
        request = _core.SimulationRequest(collective=collective, spec=spec, procs=procs, root=root)
        return _core.simulation_extent(request, platform.parsed)[0]

    for procs in (46341, 46342, 65537):
        assert f"about {procs * (2 * procs - 1)} steps" in refusal("allgather", "ring", procs)
    # A ring of reductions plans for all parts at once: two schedules for so many ranks would take the memory.
    assert "steps" in refusal("allreduce", "prr", 65536)
    # Hours, for as many steps as there are ranks.
    assert "time to build schedules" in refusal("scatter", "sbn", 1 << 18)
    # The middle of a tree has more to do than most.
    for collective in ("bcast", "gather", "scatter", "reduce"):
        assert refusal(collective, "binomial", 1 << 20) == ""
    # A root has more to do than others, whichever rank it is.
    for root in (0, 1, 4096):
        assert refusal("gather", "linear", 8192, root) == ""


def test_segments_without_bytes_are_not_sent(convene: Convene, platform: Path) -> None:
    arguments = ("-p", 4, "--sizes", 1, "--algorithms", "chain,chain;segments=1")
    done = convene("simulate", "sweep", "bcast", "--platform", platform, *arguments, "--json")
    assert done.status == 0, done.err
    cut, whole = done.json["sizes"][0]["contenders"]
    assert cut["messages"] == whole["messages"] == 3
    assert cut["seconds"] == whole["seconds"]


def test_vectors_are_cut_between_their_items(convene: Convene, platform: Path) -> None:
    """One double is one segment, whatever the number of segments; 12 bytes are none of doubles."""
    arguments = ("-p", 4, "--sizes", "8,16,12", "--algorithms", "pipeline;segments=16")
    done = convene("simulate", "sweep", "reduce", "--platform", platform, *arguments, "--json")
    assert done.status == 0, done.err
    assert [size["contenders"][0]["messages"] for size in done.json["sizes"]] == [3, 2 * 3, 12 * 3]


def test_seeds_have_noise_of_their_own(convene: Convene, platform: Path) -> None:
    common = ("-p", 4, "--sizes", 8, "--algorithms", "ring", "--noise", "exponential:1us", "--repetitions", 4)
    first, second = (
        simulate(convene, platform, *common, "--seed", seed)["sizes"][0]["contenders"][0]["seconds"]
        for seed in (1, 2)
    )
    assert not set(first) & set(second)


def test_a_platform_is_read_once(convene: Convene, platform: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of algorithms, sizes and runs; and nothing else takes its text."""
    read: list[str] = []
    core = _core.SimulatedPlatform

    def parse(text: str, file: str) -> _core.SimulatedPlatform:
        read.append(file)
        return core(text, file)

    monkeypatch.setattr(_core, "SimulatedPlatform", parse)
    done = convene(
        "simulate",
        "sweep",
        "bcast",
        *("--platform", platform, "-p", 8, "--sizes", "8,1KiB", "--algorithms", "all"),
        *("--arrivals", "uniform:1ms", "--repetitions", 2, "--json"),
    )
    assert done.status == 0, done.err
    assert read == [str(platform)]


def means_of(convene: Convene, *options: object) -> list[float]:
    words = ("allgather", "--platform", "yahoo", "-p", 144, "--sizes", 64, "--algorithms", "ring,sparbit")
    done = convene("simulate", "sweep", *words, "--repetitions", 2, "--json", *options)
    assert done.status == 0, done.err
    return [mean for each in done.json["sizes"][0]["contenders"] for mean in each["mean"]]


def test_time_slices_and_incast_are_off_unless_they_are_asked_for(convene: Convene) -> None:
    usual = means_of(convene)
    assert set(means_of(convene, "--time-slice", 0, "--incast", 0)) == set(usual)  # to the last bit
    sliced = means_of(convene, "--time-slice", "3ms")
    assert len(sliced) == 4  # two draws of each algorithm
    assert sliced == means_of(convene, "--time-slice", "3ms")
    assert sliced != means_of(convene, "--time-slice", "3ms", "--seed", 2)
    assert min(sliced) > max(usual)
    refused = convene("simulate", "sweep", "bcast", "--platform", "yahoo", "-p", 8, "--time-slice", "soon")
    assert "invalid time 'soon' for --time-slice" in refused.complaint


def test_a_gather_on_ethernet_waits_for_timeouts(convene: Convene) -> None:
    words = ("gather", "--platform", "tryton", "-p", 32, "--mapping", "cyclic", "--sizes", "64KiB")
    with_timeouts, without = (
        convene("simulate", "sweep", *words, "--algorithms", "linear", *options, "--json").json["sizes"][0]
        for options in (("--incast", "64KiB"), ())
    )
    assert without["contenders"][0]["seconds"][0] < 0.1
    assert with_timeouts["contenders"][0]["seconds"][0] > 0.2


def test_a_study_with_time_slices(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparbit_simulated, "PROCS", {"yahoo": [256], "cervino": [8]})
    monkeypatch.setattr(sparbit_simulated, "SIZES", (4096,))
    usual, sliced = (
        convene("simulate", "study", "sparbit", "--json", *options).json["summary"]
        for options in ((), ("--time-slice", "yahoo=3ms"))
    )
    assert [row["best"] for row in usual if row["name"] == "cervino"] == [
        row["best"] for row in sliced if row["name"] == "cervino"
    ]
    assert usual[0]["name"] == "yahoo"
    assert usual[0]["best"] == 0
    assert sliced[0]["best"] == 100
