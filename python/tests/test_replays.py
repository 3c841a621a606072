# SPDX-License-Identifier: BSD-3-Clause
"""Replays of recorded programs: computations stay, calls take what they take on the platform."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convene import _core
from convene._core import RequestError
from convene.simulate import platforms
from convene.simulate.programs import Setting
from convene.trace import replays
from convene.trace.recordings import Communicator, Recording, Site

TRYTON = platforms.load_platform("tryton")
ALGORITHMS = [("ring", "forced"), ("native", "default")]


def site(collective: str, *, blocking: bool = True) -> Site:
    return Site(collective, -1, blocking, "app", 0, "main")


def recording(calls: int = 6, procs: int = 4, **others: Any) -> Recording:
    """Allgathers and barriers in turn, 1 ms each; rank r computes r ms before each."""
    now, arrivals, exits = np.zeros(procs), [], []
    for _ in range(calls):
        now = now + np.arange(procs) * 1e-3
        arrivals.append(now)
        now = np.full(procs, now.max() + 1e-3)
        exits.append(now)
    kinds = np.arange(calls) % 2
    world = Communicator(
        members=list(range(procs)),
        first=0,
        arrivals=np.array(arrivals),
        exits=np.array(exits),
        sizes=np.where(kinds == 0, 4096, 0).astype(np.uint64),
        sites=[site("allgather"), site("barrier")],
        site=kinds,
        algorithms=ALGORITHMS,
        algorithm=kinds,
    )
    return Recording([world], ranks=procs, procs=procs, **others)


def setting(procs: int) -> Setting:
    return Setting(TRYTON, procs)


def simulate(cases: list[Any]) -> list[Any]:
    return [case.simulate() for case in cases]


def test_what_is_read() -> None:
    found = replays.read_calls(recording())
    assert [(call.collective, call.bytes) for call in found.kinds] == [("allgather", 4096), ("barrier", 0)]
    assert found.kind == (0, 1) * 3
    assert found.computed == pytest.approx(np.tile(np.arange(4) * 1e-3, (6, 1)))
    assert found.in_collectives == pytest.approx(6 * (1 + 1.5) * 1e-3)
    assert found.left_out == 0


def test_computations_stay_and_calls_take_their_time() -> None:
    recorded = replays.read_calls(recording())
    (made,) = replays.replays(recorded, ["barrier=dissemination"], setting(4), simulate)
    assert made.specs == ("ring", "dissemination")
    (runs,) = made.simulate()
    assert len(runs) == 6
    arrivals = [[0.0, 1e-3, 2e-3, 3e-3]]
    (one,) = _core.simulate(
        _core.SimulationRequest(
            collective="allgather", spec="ring", procs=4, sizes=[4096], arrivals=arrivals
        ),
        TRYTON.parsed,
    )
    assert runs[0]["mean"] == pytest.approx(one["mean"])
    assert runs[0]["seconds"] == pytest.approx(one["seconds"])


def test_more_ranks_compute_as_those_recorded() -> None:
    recorded = replays.read_calls(recording())
    (made,) = replays.replays(recorded, ["barrier=dissemination"], setting(10), simulate)
    computations = list(made.computations())
    assert all(len(each) == 10 for each in computations)
    assert computations[2] == pytest.approx([0, 1e-3, 2e-3, 3e-3] * 2 + [0, 1e-3])
    assert made.simulate() == made.simulate()


def test_without_use_the_main_collective_varies() -> None:
    recorded = replays.read_calls(recording())
    made = replays.replays(recorded, [], setting(4), simulate)
    names = [each.spec for each in made]
    assert names[0] == "as recorded"
    assert "barrier=tree" in names  # in which the ranks spent the most time
    assert len({each.specs[0] for each in made}) == 1


def test_what_cannot_be_replayed() -> None:
    idle = recording()
    idle.communicators[0].sites[:] = [site("allgather", blocking=False), site("barrier", blocking=False)]
    with pytest.raises(RequestError, match="nothing to replay"):
        replays.read_calls(idle)
    half = recording()
    half.communicators.append(recording(2, 2).communicators[0])
    assert replays.read_calls(half).left_out == 2
    recorded = replays.read_calls(half)
    with pytest.raises(RequestError, match="has no bcast"):
        replays.replays(recorded, ["bcast=chain"], setting(4), simulate)
    with pytest.raises(RequestError, match="not 6"):
        replays.replays(recorded, ["allgather=recursive_doubling"], setting(6), simulate)


def test_an_empty_directory_is_refused(convene: Any, tmp_path: Path) -> None:
    words = ("simulate", "program", tmp_path, "--platform", "tryton", "-p", 4)
    assert "contains no recording" in convene(*words).complaint
