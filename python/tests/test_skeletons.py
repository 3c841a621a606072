# SPDX-License-Identifier: BSD-3-Clause
"""Skeletons of applications (convene simulate --skeleton)."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from convene import _core
from convene._core import RequestError
from convene.simulate import platforms, skeletons
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

Convene = Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "skeletons" / "particles.json"


def write(path: Path, *loop: dict[str, object], **others: object) -> Path:
    value = {"convene_skeleton": 1, "name": "example", "iterations": 4, "loop": list(loop)}
    file = path / "skeleton.json"
    file.write_text(json.dumps(value | others))
    return file


def simulated(convene: Convene, path: Path, procs: int, *options: object) -> dict[str, list[float]]:
    """The time of each iteration, by program."""
    done = convene("simulate", "program", path, "--platform", "tryton", "-p", procs, "--json", *options)
    assert done.status == 0, done.err
    (size,) = done.json["sizes"]
    return {contender["name"]: contender["seconds"] for contender in size["contenders"]}


def one_call(collective: str, spec: str, procs: int, size: int) -> float:
    tryton = platforms.load_platform("tryton")
    request = _core.SimulationRequest(
        collective=collective, spec=spec, procs=procs, sizes=[size], arrivals=[[0.0] * procs]
    )
    (run,) = _core.simulate(request, tryton.parsed)
    return run["seconds"]


def test_balanced_iterations_take_what_their_parts_take(convene: Convene, tmp_path: Path) -> None:
    path = write(tmp_path, {"compute": "1ms"}, {"collective": "barrier", "algorithm": "recursive_doubling"})
    (seconds,) = simulated(convene, path, 8).values()
    assert seconds == pytest.approx([1e-3 + one_call("barrier", "recursive_doubling", 8, 0)] * 4)


def test_the_table_fits(convene: Convene, check_tables: Any, tmp_path: Path) -> None:
    names = ("reduce_scatter_block", "allgather", "allreduce", "bcast", "alltoall")
    calls: list[dict[str, object]] = [{"collective": name, "bytes": 64} for name in names]
    path = write(tmp_path, *calls)
    where = ("--platform", "tryton", "-p", 6)

    def show() -> str:
        done = convene("simulate", "program", path, *where)
        assert done.status == 0, done
        return str(done.out)

    check_tables(show, "program", "time", "of the best", "all with")


def test_an_algorithm_for_each_call(convene: Convene, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"collective": "allgather", "bytes": "1KiB"},
        {"collective": "bcast", "bytes": 64, "root": 3},
    )
    use = "allgather=bruck,bcast=chain"
    programs = simulated(convene, path, 48, "--use", "allgather=ring", "--use", use)
    assert set(programs) == {"allgather=ring", use}
    assert programs[use] != programs["allgather=ring"]


def test_all_algorithms_of_the_first_call_that_is_free(convene: Convene, tmp_path: Path) -> None:
    bcast = {"collective": "bcast", "bytes": 64, "algorithm": "chain"}
    path = write(tmp_path, bcast, {"collective": "allgather", "bytes": 8})
    assert {"allgather=ring", "allgather=sparbit"} < set(simulated(convene, path, 6))


def test_who_leaves_late_comes_late(convene: Convene, tmp_path: Path) -> None:
    """The last of a chain has its segment later than others, and all wait for it in the barrier."""
    path = write(
        tmp_path,
        {"collective": "bcast", "bytes": "1MiB", "algorithm": "chain"},
        {"collective": "barrier", "algorithm": "tree"},
        iterations=1,
    )
    (seconds,) = simulated(convene, path, 4).values()
    assert seconds[0] >= one_call("bcast", "chain", 4, 1 << 20)


@pytest.mark.parametrize("recurring", [True, False])
def test_computations_are_drawn_anew_unless_they_recur(
    convene: Convene, tmp_path: Path, recurring: bool
) -> None:
    work = {"compute": "1ms", "late": "uniform:1ms", "recurring": recurring}
    path = write(tmp_path, work, {"collective": "barrier", "algorithm": "tree"})
    (seconds,) = simulated(convene, path, 8).values()
    # Ranks do not leave a tree at the same moment, so iterations differ a little.
    spread = max(seconds) - min(seconds)
    assert (spread < 1e-5) == recurring
    (others,) = simulated(convene, path, 8, "--seed", 2).values()
    assert others != seconds


def test_forecasts_are_learned_from_iterations(convene: Convene, tmp_path: Path) -> None:
    """Who is late again and again is known from the second iteration on."""
    work = {"compute": "0s", "late": "late:5:50ms", "recurring": True}
    path = write(tmp_path, work, {"collective": "allgather", "bytes": "64KiB"})
    use = "allgather=list_scheduled"
    ((first, *later),) = simulated(convene, path, 16, "--use", use, "--mapping", "cyclic").values()
    assert max(later) < first


def test_forecasts_of_long_calls_are_cut(convene: Convene, tmp_path: Path) -> None:
    """The widest size makes ranks leave, and so come, more rounds apart than a forecast can say."""
    path = write(
        tmp_path,
        {"collective": "allgather", "bytes": 1},
        {"collective": "bcast", "bytes": 1 << 63, "algorithm": "chain"},
    )
    assert len(simulated(convene, path, 4, "--use", "allgather=list_scheduled")) == 1


def test_the_example_and_its_report(convene: Convene, tmp_path: Path) -> None:
    output = tmp_path / "example.json"
    where = ("--platform", "curie", "-p", 8, "--use", "allgather=ring", "--use", "allgather=sparbit")
    done = convene("simulate", "program", EXAMPLE, *where, "-o", output)
    assert done.status == 0, done.err
    assert "all with allreduce=" in done.out
    assert convene("report", output, "-o", tmp_path / "page.html").status == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"convene_skeleton": 2}, "field convene_skeleton must be 1"),
        ({"iterations": 0}, "field iterations must be from 1 to"),
        ({"iterations": True}, "field iterations cannot be true"),
        ({"loops": 1}, ": unknown field loops"),
        ({"loop": []}, "field loop has no collective"),
        ({"loop": [3]}, "loop[0] must be an object"),
        ({"loop": [{"comput": "1ms"}]}, "loop[0] is neither a computation (compute) nor a collective"),
        ({"loop": [{"compute": "1ns?"}]}, "invalid time '1ns?' for"),
        ({"loop": [{"compute": "x\n"}]}, r"invalid time 'x\x0a' for"),
        ({"loop": [{"compute": 1}]}, "loop[0]: field compute cannot be 1"),
        ({"loop": [{"collective": "algather", "bytes": 8}]}, "did you mean allgather"),
        ({"loop": [{"collective": "allgather"}]}, "loop[0]: field bytes is missing"),
        ({"loop": [{"collective": "allgather", "bytes": "8KB"}]}, "loop[0]: '8KB' is not a size"),
        ({"loop": [{"collective": "allgather", "bytes": 8, "root": 1}]}, "loop[0]: allgather has no root"),
        ({"loop": [{"collective": "bcast", "bytes": 8, "algorithm": "chian"}]}, "did you mean chain"),
        ({"loop": [{"collective": "barrier", "bytes": 8}]}, "loop[0]: barrier carries no data"),
    ],
)
def test_wrong_skeletons(convene: Convene, tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    path = write(tmp_path, {"collective": "allgather", "bytes": 8}, **change)
    done = convene("simulate", "program", path, "--platform", "tryton", "-p", 4)
    assert sentence in done.complaint
    assert str(path) in done.complaint


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--use", "bcast=chain"), "the skeleton has no bcast without a fixed algorithm"),
        (("--use", ""), "--use '' names no algorithm; give one, as in allgather=ring"),
        (("--use", "allgather=native"), "native has no schedule to simulate"),
        (("--use", "allgather=recursive_doubling"), "needs a number of processes that is a power of two"),
        (("--algorithms", "ring"), "No such option: --algorithms"),
        (("--contention", "none"), "must be sharing or maxmin"),
    ],
)
def test_wrong_requests(convene: Convene, tmp_path: Path, options: tuple[object, ...], sentence: str) -> None:
    path = write(tmp_path, {"collective": "allgather", "bytes": 8})
    done = convene("simulate", "program", path, "--platform", "tryton", "-p", 5, *options)
    assert sentence in done.complaint


def test_a_root_that_is_no_rank(convene: Convene, tmp_path: Path) -> None:
    path = write(tmp_path, {"collective": "bcast", "bytes": 8, "root": 5})
    done = convene("simulate", "program", path, "--platform", "tryton", "-p", 5)
    assert "root 5 of bcast in the skeleton is out of range (-p 5)" in done.complaint


scalars = some.none() | some.booleans() | some.integers(-9, 9) | some.text(max_size=6) | some.just("1ms")
names = some.sampled_from(
    ["compute", "late", "recurring", "collective", "bytes", "root", "algorithm", "loop"]
)
values = some.recursive(
    scalars,
    lambda each: some.lists(each, max_size=3) | some.dictionaries(names, each, max_size=4),
    max_leaves=9,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.dictionaries(names, values, max_size=4), some.lists(values, max_size=3))
def test_any_json_is_a_skeleton_or_an_error(tmp_path: Path, others: dict[str, Any], loop: list[Any]) -> None:
    path = tmp_path / "any.json"
    head = {"convene_skeleton": 1, "name": "any", "iterations": 1}
    path.write_text(json.dumps(others | head | {"loop": loop}))
    with suppress(RequestError):
        assert skeletons.read(path).calls


def test_one_node_is_enough(convene: Convene, tmp_path: Path) -> None:
    path = write(tmp_path, {"collective": "allgather", "bytes": "1KiB"})
    platform = tmp_path / "one.json"
    link = {"latency": 1e-7, "bandwidth": 1e10}
    platform.write_text(
        json.dumps(
            {
                "convene_platform": 1,
                "name": "one",
                "machine": "node:1 core:8",
                "within": {"node": link},
                "network": {"shape": "one_switch", "node": link},
            }
        )
    )
    done = convene("simulate", "program", path, "--platform", platform, "-p", 8, "--json")
    assert done.status == 0, done.err
    assert "bdr" in " ".join(contender["name"] for contender in done.json["sizes"][0]["contenders"])


def test_a_root_that_is_none_is_named(convene: Convene, tmp_path: Path) -> None:
    path = write(tmp_path, {"collective": "bcast", "bytes": 8, "root": -1})
    done = convene("simulate", "program", path, "--platform", "tryton", "-p", 4)
    assert done.status == 2
    assert "root -1 must be 0 or more" in done.err
