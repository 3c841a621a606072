# SPDX-License-Identifier: BSD-3-Clause
"""The measuring program under every MPI at hand: that it ends, with every operation and with plausible times.
(How good they are, is no matter of tests.)"""

import json
from pathlib import Path

import pytest
from convene._core import RequestError
from convene.base import paths
from convene.model import measurement
from convene.model.platform_types import Observed
from convene.mpi import launchers, settings, stacks

pytestmark = pytest.mark.all  # a minute for each MPI

BRIEF = measurement.Effort(rounds=3, seconds=0, points=8, largest=16384)
IDS = [Path(launcher).parent.parent.name + launcher[-7:] for launcher, _ in stacks.MPIS]


def setting_of(launcher: str, stack: str, *options: str) -> settings.Setting:
    if launchers.find_program(launcher) is None:
        pytest.skip(f"there is no {Path(launcher).name} here")
    try:
        setting = measurement.find_setting(" ".join([launcher, *options]), stack)
    except RequestError as error:
        pytest.skip(str(error))
    assert paths.find(setting.program.name, paths.PROGRAMS)
    return setting


# Ranks of Debian's MPICH never give way: three on two cores take a minute.
SLOW = ("mpiexec.mpich", "mpich")
NODES = [pytest.param(*one, marks=pytest.mark.long) if one == SLOW else one for one in stacks.MPIS]


@pytest.mark.parametrize(("launcher", "stack"), NODES, ids=IDS)
def test_a_node(launcher: str, stack: str) -> None:
    request = measurement.Request(3, BRIEF)
    raw = measurement.run(setting_of(launcher, stack), request)
    operations = {(one["operation"], one["tau"]) for one in raw["series"]}
    assert {("ring", 2), ("ring", 3), ("round_trip", 1), ("copy", 3), ("combine", 1)} <= operations
    assert {("packing", 1), ("shared", 1), ("shared", 2)} <= operations
    assert all(len(point["seconds"]) == 3 for one in raw["series"] for point in one["points"])
    assert all(time > 0 for one in raw["series"] for point in one["points"] for time in point["seconds"])
    platform = measurement.platform(raw, request, "node", resamples=5)
    assert platform["machine"] == "node:1 core:3"
    assert [channel["name"] for channel in platform["model"]["channels"]] == ["memory"]
    packed, copied = platform["model"]["packing"], platform["model"]["copy"]
    assert packed[-1][1] > 0
    assert {size for size, _ in packed} <= {size for size, _ in copied["1"]}


def run_as_nodes(setting: settings.Setting, nodes: str, request: measurement.Request) -> Observed:
    """The program with nodes that are none."""

    class Pretended(measurement.Request):
        def arguments(self) -> list[str]:
            return [*super().arguments(), "--node-of", nodes]

    return measurement.run(setting, Pretended(request.procs, request.effort, request.out_of_cache))


def test_two_nodes(tmp_path: Path) -> None:
    request = measurement.Request(4, BRIEF, out_of_cache=1 << 20)
    raw = run_as_nodes(setting_of(*stacks.MPIS[0]), "0,1,0,1", request)
    assert {one["channel"] for one in raw["series"]} == {"memory", "network", "local"}
    platform = measurement.platform(raw, request, "nodes", resamples=5)
    assert platform["machine"] == "node:2 core:2"
    assert [channel.get("within") for channel in platform["model"]["channels"]] == ["node", None]
    assert list(platform["model"]["channels"][1]["taulop"]["L"]) == ["1", "2"]
    json.dumps(platform, allow_nan=False)


def test_nodes_with_one_rank_each() -> None:
    request = measurement.Request(2, BRIEF)
    raw = run_as_nodes(setting_of(*stacks.MPIS[0]), "0,1", request)
    platform = measurement.platform(raw, request, "far", resamples=5)
    memory, network = platform["model"]["channels"]
    # Nothing was measured within a node: what stands there is the network's, and the file says so.
    assert (memory["name"], network["name"]) == ("memory", "network")
    assert memory["hockney"] == network["hockney"]
    assert measurement.NO_MEMORY in platform["assumed"]
    assert platform["machine"] == "node:2 core:1"


def test_collectives_are_timed_where_they_can_run() -> None:
    request = measurement.Request(
        3,
        BRIEF,
        out_of_cache=1 << 16,
        collectives=("bcast=binomial", "allgather=recursive_doubling", "alltoall=pairwise"),
        collective_procs=(2, 3),
        collective_sizes=(64, 4096),
        only_collectives=True,
    )
    raw = measurement.run(setting_of(*stacks.MPIS[0]), request)
    found = {(one["algorithm"], one["tau"]) for one in raw["series"]}
    assert found >= {("bcast=binomial", 2), ("bcast=binomial", 3), ("allgather=recursive_doubling", 2)}
    assert ("allgather=recursive_doubling", 3) not in found
    assert all(point["seconds"][0] > 0 for one in raw["series"] for point in one["points"])


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    setting = setting_of(*stacks.MPIS[0])
    with pytest.raises(RequestError, match="--node-of needs one number for each of the 3 ranks, not 2"):
        run_as_nodes(setting, "0,1", measurement.Request(3, BRIEF))
    crowd = measurement.Request(3, BRIEF, 0, ("bcast=binomial",), (4,), (8,))
    with pytest.raises(RequestError, match="4:bcast=binomial must begin with a number of ranks, 1 to 3"):
        measurement.run(setting, crowd)
    with pytest.raises(RequestError, match="at least 2 ranks"):
        measurement.run(setting, measurement.Request(1, BRIEF))
