# SPDX-License-Identifier: BSD-3-Clause
"""Predictions: costs of collectives under a model."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from convene import _core
from convene._core import RequestError
from convene.base.result_types import Json
from convene.catalogue.schedule_files import ScheduleFile
from convene.model.platform_files import NONE, PlatformFile

HOP_BYTES = "hop_bytes"


@dataclass(frozen=True)
class Setting:
    """One collective on one machine; which algorithm, is asked separately."""

    collective: str
    procs: int
    root: int
    machine: str
    mapping: str
    platform: PlatformFile = NONE
    packed: bool = False  # the program's data does not lie in one piece
    schedules: tuple[ScheduleFile, ...] = ()  # which take the names of their files as specs

    def request(self, spec: str) -> _core.ScheduleRequest:
        given = [each.parsed for each in self.schedules if each.file == spec]
        return _core.ScheduleRequest(
            collective=self.collective,
            spec=spec,
            procs=self.procs,
            root=self.root,
            machine=self.machine,
            placement=self.mapping,
            given=given[0] if given else None,
        )


@dataclass(frozen=True)
class Prediction:
    """What one algorithm costs, size by size: seconds, or bytes times distance."""

    spec: str
    costs: list[float]
    # Models have balanced arrivals, under which such an algorithm is another one, as the ring.
    uses_arrivals: bool = False

    def order(self, i: int) -> tuple[float, bool, str]:
        """By cost at one size; among equals one that does not use arrivals, then the first by name."""
        return (self.costs[i], self.uses_arrivals, self.spec)


def machine_of(
    procs: int, nodes: int | None, machine: str | None, mapping: str, platform: PlatformFile
) -> str:
    """The machine that was given, or so many nodes that are just large enough, or the platform's own, or the
    nodes that a mapping lists."""
    if machine is not None and nodes is not None:
        raise RequestError("--machine already defines the number of nodes; leave out --nodes")
    if machine is not None:
        return machine
    if nodes is not None:
        return f"node:{nodes} core:{ceil(procs / nodes)}"
    own = platform.facts["machine"] if platform is not NONE else ""
    if not own and mapping not in ("sequential", "cyclic"):
        if not re.fullmatch(r"\s*\d{1,9}\s*(,\s*\d{1,9}\s*)*", mapping):
            return ""  # the parser of the mapping reports the error
        listed = Counter(int(node) for node in mapping.split(","))
        return f"node:{max(listed) + 1} core:{max(listed.values())}"
    if not own:
        raise RequestError('the number of nodes is missing; give --nodes 4, or --machine "node:4 core:8"')
    return own


def predict(setting: Setting, specs: list[str], model: str, sizes: list[int]) -> list[Prediction]:
    """The cheapest at the largest size first."""
    cost: Callable[[str], list[float]]
    if model == HOP_BYTES:

        def cost(spec: str) -> list[float]:
            return _core.hop_bytes(setting.request(spec), sizes)
    else:

        def cost(spec: str) -> list[float]:
            return _core.predict(setting.request(spec), setting.platform.parsed, model, sizes, setting.packed)

    aware = {
        known["name"] for known in _core.algorithms(setting.collective) if known["arrival_source"] != "none"
    }
    found = [Prediction(spec, cost(spec), spec.split(";")[0] in aware) for spec in specs]
    return sorted(found, key=lambda prediction: prediction.costs[-1])


def best_of(predictions: list[Prediction], sizes: list[int]) -> list[str]:
    """The cheapest algorithm at each size."""
    return [min(predictions, key=lambda p: p.order(i)).spec for i in range(len(sizes))]


def as_json(setting: Setting, model: str, sizes: list[int], predictions: list[Prediction]) -> Json:
    unit = "byte_hops" if model == HOP_BYTES else "seconds"
    return {
        "collective": setting.collective,
        "procs": setting.procs,
        "root": setting.root,
        "machine": setting.machine,
        "mapping": setting.mapping,
        "platform": setting.platform.facts["name"] if setting.platform is not NONE else None,
        "assumed": setting.platform.facts["assumed"] if setting.platform is not NONE else [],
        "model": model,
        "packed": setting.packed,
        "sizes": sizes,
        "best": best_of(predictions, sizes),
        "algorithms": [{"algorithm": p.spec, unit: p.costs} for p in predictions],
    }
