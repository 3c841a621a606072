# SPDX-License-Identifier: BSD-3-Clause
"""Gains of arrival-aware schedules on 4,096 nodes, by imbalance and by the forecast's error. This
project's own."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from rich.table import Table

from convene import _core
from convene.base import console
from convene.base.core_types import Simulated
from convene.base.text import bytes_text, seconds_text
from convene.simulate import cases, inputs, platforms
from convene.studies.simulated import Simulate, Study, balanced, gain, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PROCS = 4096
SEED = 1
SEGMENTS = 64
PIECES = f";segments={SEGMENTS}"


@dataclass(frozen=True)
class Part:
    """What is compared of a collective."""

    size: int  # bytes of a block, of the vector
    metric: str  # by the sources: in a reduction most ranks are done as soon as they have sent
    aware: tuple[str, ...]  # arrival-aware algorithms
    regular: tuple[str, ...]  # and others
    is_vector: bool = False  # one that is cut into segments; else blocks


METRIC_NAMES = {"mean": "time from arrival to exit, mean over ranks", "seconds": "first arrival to last exit"}
TREES = ("linear", "linear_sync", "binomial", "nway_binomial")

PARTS = {
    "allgather": Part(
        1 << 10,
        "mean",
        ("bdr", "bslb", "list_scheduled"),
        ("ring", "recursive_doubling", "bruck", "sparbit"),
    ),
    "gather": Part(1 << 14, "seconds", ("sls", "bsls", "sbn", "bsbn"), TREES),
    "scatter": Part(1 << 14, "mean", ("sln", "bsln", "sbn", "bsbn"), TREES),
    "bcast": Part(
        4 << 20,
        "mean",
        ("list_scheduled" + PIECES, "arrival_b" + PIECES, "arrival_nb" + PIECES),
        ("binomial" + PIECES, "scatter_allgather", "chain" + PIECES, "split_binary" + PIECES),
        is_vector=True,
    ),
    "reduce": Part(
        4 << 20,
        "seconds",
        ("clairvoyant" + PIECES, "local_redirect"),
        ("binomial", "butterfly", "radix_k;radix=8", "ring", "two_tree" + PIECES),
        is_vector=True,
    ),
    "allreduce": Part(
        4 << 20,
        "seconds",
        ("slt" + PIECES,),
        ("recursive_doubling", "rabenseifner", "reduce_bcast"),
        is_vector=True,
    ),
}

# The latest possible arrival, in balanced run times of the best regular algorithm.
IMBALANCES = (0.3, 1.0, 3.0, 10.0)

# Standard deviation of the forecast, relative to the latest possible arrival.
ERRORS = (0.0, 0.1, 1.0)
USUAL = 3.0  # the imbalance under which errors are tried


@dataclass(frozen=True)
class Late(cases.Case):
    """Arrivals are uniform from 0 to `latest`; a forecast has a normal error. Algorithms with a forecast run
    in the background from the first arrival on."""

    latest: float = 0.0  # seconds
    error: float = 0.0  # a part of it
    tick: float = 0.0  # seconds; a round of those that use a forecast; 0: no forecast

    def simulate(self, _on_part: Callable[[], None] | None = None) -> list[list[Simulated]]:
        generator = random.Random(SEED)
        times = [generator.uniform(0, self.latest) for _ in range(self.procs)]
        request = _core.SimulationRequest(
            collective=self.collective,
            spec=self.spec,
            procs=self.procs,
            placement=self.mapping,
            sizes=self.sizes,
            arrivals=[times],
        )
        if self.tick:
            expected = [at + generator.gauss(0, self.error * self.latest) for at in times]
            first = min(expected)
            request.forecasts = [[int((at - first) / self.tick) for at in expected]]
        if self.tick and not PARTS[self.collective].is_vector:
            request.begins = [[0.0] * self.procs]
            request.blocks = [[float(self.sizes[0])] * self.procs]
        return [_core.simulate(request, self.platform.parsed)]


def short(spec: str) -> str:
    """Without its parameters."""
    return spec.partition(";")[0]


def uses_forecast(collective: str, spec: str) -> bool:
    """Other arrival-aware algorithms exchange messages."""
    sources = {algorithm["name"]: algorithm["arrival_source"] for algorithm in _core.algorithms(collective)}
    return sources[short(spec)] == "forecast"


def large(procs: int) -> platforms.Platform:
    """Curie's links and processors on so many nodes, on one switch: nothing contends but the nodes' links, as
    in the models that the schedules were made for."""
    curie = platforms.load_platform("curie")
    changed = json.loads(curie.text)
    changed["machine"] = f"node:{procs} core:1"
    changed["network"] = {"shape": "one_switch", "node": changed["network"]["node"]}
    return platforms.Platform(json.dumps(changed), f"{curie.file} with {procs} nodes")


class Cell(TypedDict):
    """One imbalance and error of the forecast: seconds, and gains in percent, by algorithm."""

    imbalance: float
    error: float
    regular: dict[str, float]
    aware: dict[str, float]
    gain: dict[str, float]


class Compared(TypedDict):
    """One collective."""

    bytes: int
    metric: str
    too_large: list[str]
    balanced: dict[str, float]
    cells: list[Cell]


class Result(TypedDict):
    study: str
    source: str
    procs: int
    collectives: dict[str, Compared]


def run(simulate: Simulate, procs: int = PROCS) -> Result:
    platform = large(procs)
    result: Result = {
        "study": "forecast",
        "source": "this project's own",
        "procs": procs,
        "collectives": {},
    }
    for collective, part in PARTS.items():
        result["collectives"][collective] = run_one(simulate, platform, procs, collective, part)
    return result


def run_one(
    simulate: Simulate, platform: platforms.Platform, procs: int, collective: str, part: Part
) -> Compared:
    size = part.size
    even = [
        cases.Case(collective, spec, procs, (size,), platform, "sequential", balanced(procs))
        for spec in part.regular
    ]
    too_large = [case.spec for case in even if case.refusal()]
    even = [case for case in even if case.spec not in too_large]
    alone = {case.spec: runs[0][0]["seconds"] for case, runs in zip(even, simulate(even), strict=True)}
    regulars, best = list(alone), min(alone.values())

    def round_of(spec: str) -> float:
        segments = int(_core.parameters(collective, spec).get("segments", 1)) if part.is_vector else 1
        return inputs.round_seconds(platform, size / segments)

    def case(spec: str, imbalance: float, error: float) -> Late:
        return Late(
            collective,
            spec,
            procs,
            (size,),
            platform,
            "sequential",
            (),
            latest=imbalance * best,
            error=error,
            tick=round_of(spec) if uses_forecast(collective, spec) else 0.0,
        )

    points = [(imbalance, 0.0) for imbalance in IMBALANCES] + [(USUAL, error) for error in ERRORS if error]
    asked = {
        (imbalance, error, spec): case(spec, imbalance, error)
        for imbalance, error in points
        for spec in (*part.aware, *(regulars if not error else ()))
    }
    simulated = dict(zip(asked, (runs[0][0] for runs in simulate(list(asked.values()))), strict=True))
    metric = part.metric
    cells: list[Cell] = []
    for imbalance, error in points:
        regular = {spec: value(simulated[imbalance, 0.0, spec], metric) for spec in regulars}
        times = {spec: value(simulated[imbalance, error, spec], metric) for spec in part.aware}
        best_regular = min(regular.values())
        cells.append(
            {
                "imbalance": imbalance,
                "error": error,
                "regular": regular,
                "aware": times,
                "gain": {spec: 100 * gain(time, best_regular) for spec, time in times.items()},
            }
        )
    return {
        "bytes": size,
        "metric": metric,
        "too_large": too_large,
        "balanced": alone,
        "cells": cells,
    }


def value(run: Simulated, metric: str) -> float:
    return run["mean"] if metric == "mean" else run["seconds"]


def tables(result: Result) -> list[Table]:
    found: list[Table] = []
    for collective, part in result["collectives"].items():
        names = list(part["cells"][0]["gain"])
        heads = ("imbalance", "error", "best regular", *(short(name) for name in names))
        table = console.table(
            f"{collective}, {result['procs']} ranks, {bytes_text(part['bytes'])}: gain over the best "
            f"regular algorithm ({METRIC_NAMES[part['metric']]})",
            *heads,
            numbers=heads,
            optional=("best regular",),
            keys=2,
        )
        for cell in part["cells"]:
            regular = min(cell["regular"], key=lambda spec: cell["regular"][spec])
            table.add_row(
                f"{cell['imbalance']:g}",
                f"{100 * cell['error']:g} %",
                f"{seconds_text(cell['regular'][regular])} {short(regular)}",
                *(percent(cell["gain"][name], 0) for name in names),
            )
        found.append(table)
    return found


def sentences(result: Result) -> list[str]:
    said = []
    for collective, part in result["collectives"].items():
        cells = part["cells"]
        for spec in cells[0]["gain"]:
            top = max((cell for cell in cells if not cell["error"]), key=lambda cell: cell["gain"][spec])
            worst = max(
                (cell for cell in cells if cell["imbalance"] == USUAL), key=lambda cell: cell["error"]
            )
            most = f"{collective} {short(spec)}: at most {percent(top['gain'][spec], 0)}"
            if uses_forecast(collective, spec):
                said.append(
                    f"{most} with a true forecast (imbalance {top['imbalance']:g}); "
                    f"{percent(worst['gain'][spec], 0)} with an error as large as the delays."
                )
            else:
                said.append(f"{most} (imbalance {top['imbalance']:g}); it needs no forecast.")
        said += [
            f"{collective} {spec} is left out: its plan would be too large." for spec in part["too_large"]
        ]
    return said


def draw(result: Result) -> "Figure":
    from convene.studies import figures  # slow import of Matplotlib

    panels = []
    for collective, part in result["collectives"].items():
        true = [cell for cell in part["cells"] if not cell["error"]]
        wrong = [cell for cell in part["cells"] if cell["imbalance"] == USUAL]
        wrong.sort(key=lambda cell: cell["error"])
        rows: tuple[tuple[str, list[Cell], Literal["imbalance", "error"]], ...] = (
            (f"{collective}, true forecast", true, "imbalance"),
            (f"{collective}, imbalance {USUAL:g}", wrong, "error"),
        )
        for title, cells, key in rows:
            curves = {
                short(spec): [(cell[key], cell["gain"][spec]) for cell in cells] for spec in cells[0]["gain"]
            }
            panels.append((title, key, curves))
    return figures.gains(panels)


STUDY = Study(
    "forecast",
    "gain of forecasts on 4,096 nodes (not of a publication); -p sets another number",
    run,
    tables,
    sentences,
    draw,
    run_on=run,
)
