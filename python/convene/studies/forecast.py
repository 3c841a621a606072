# SPDX-License-Identifier: BSD-3-Clause
"""What schedules that mind arrivals gain on 4,096 nodes, by imbalance and by the forecast's error. This
project's own."""

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from convene import _core, console, simulation
from convene._core import RequestError
from convene.report import seconds_text
from convene.shapes import Simulated
from convene.studies.study import Play, Study, balanced, gain, percent, round_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROCS = 4096
GROUP = 256  # two levels of the fat tree
SEED = 1

# By collective: bytes (of a block, of the vector), who minds arrivals, and who does not.
SIZES = {"allgather": 1 << 10, "reduce": 4 << 20}
SEGMENTS = 64
AWARE = {"allgather": ("bdr", "bslb", "list_scheduled"), "reduce": (f"clairvoyant;segments={SEGMENTS}",)}
REGULAR = {
    "allgather": ("ring", "recursive_doubling", "bruck"),
    "reduce": ("binomial", "butterfly", "radix_k;radix=8", "ring", f"two_tree;segments={SEGMENTS}"),
}

# The latest possible arrival, in balanced run times of the best regular algorithm.
IMBALANCES = (0.3, 1.0, 3.0, 10.0)
# Standard deviation of what is forecast, as a part of the latest possible arrival.
ERRORS = (0.0, 0.1, 1.0)
USUAL = 3.0  # the imbalance under which errors are tried


@dataclass(frozen=True)
class Late(simulation.Case):
    """Every rank comes at a random moment from 0 to `latest`; a forecast has a normal error, and ranks
    that use one take part in the background as soon as the first has come."""

    latest: float = 0.0  # seconds
    error: float = 0.0  # a part of it
    tick: float = 0.0  # seconds; a round of those that use a forecast; 0: no forecast

    def play(self) -> list[list[Simulated]]:
        generator = random.Random(SEED)
        times = [generator.uniform(0, self.latest) for _ in range(self.procs)]
        others: dict[str, Any] = {}
        if self.tick:
            expected = [at + generator.gauss(0, self.error * self.latest) for at in times]
            first = min(expected)
            others = {"forecasts": [[int((at - first) / self.tick) for at in expected]]}
        if self.tick and self.collective == "allgather":
            others |= {"begins": [[0.0] * self.procs], "blocks": [[float(self.sizes[0])] * self.procs]}
        place = self.platform.text, self.platform.file, self.mapping
        return [_core.simulate(self.collective, self.spec, self.procs, self.sizes, *place, [times], **others)]


def large(procs: int) -> simulation.Platform:
    """Curie's links and processors on so many nodes, in a fat tree of full bisection bandwidth."""
    if procs < 2 * GROUP or procs % GROUP:
        raise RequestError(
            f"the study forecast needs a multiple of {GROUP} ranks from {2 * GROUP} on, not {procs}"
        )
    curie = simulation.load_platform("curie")
    changed = json.loads(curie.text)
    changed["machine"] = f"node:{procs} core:1"
    changed["network"] |= {"down": [16, 16, procs // GROUP], "up": [16, 16]}
    return simulation.Platform(json.dumps(changed), f"{curie.file} with {procs} nodes")


def run(play: Play, procs: int = PROCS) -> dict[str, Any]:
    platform = large(procs)
    result: dict[str, Any] = {
        "study": "forecast",
        "source": "this project's own",
        "procs": procs,
        "collectives": {},
    }
    for collective, size in SIZES.items():
        result["collectives"][collective] = run_one(play, platform, procs, collective, size)
    return result


def run_one(
    play: Play, platform: simulation.Platform, procs: int, collective: str, size: int
) -> dict[str, Any]:
    even = [
        simulation.Case(collective, spec, procs, (size,), platform, "sequential", balanced(procs))
        for spec in REGULAR[collective]
    ]
    alone = {case.spec: runs[0][0]["seconds"] for case, runs in zip(even, play(even), strict=True)}
    best = min(alone.values())
    tick = round_seconds(platform, size if collective == "allgather" else size / SEGMENTS)

    def case(spec: str, imbalance: float, error: float) -> Late:
        is_aware = spec in AWARE[collective]
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
            tick=tick if is_aware else 0.0,
        )

    points = [(imbalance, 0.0) for imbalance in IMBALANCES] + [(USUAL, error) for error in ERRORS if error]
    asked = {
        (imbalance, error, spec): case(spec, imbalance, error)
        for imbalance, error in points
        for spec in (*AWARE[collective], *(REGULAR[collective] if not error else ()))
    }
    played = dict(zip(asked, (runs[0][0] for runs in play(list(asked.values()))), strict=True))
    cells = []
    for imbalance, error in points:
        regular = [played[imbalance, 0.0, spec] for spec in REGULAR[collective]]
        times = {spec: played[imbalance, error, spec] for spec in AWARE[collective]}
        cells.append(
            {
                "imbalance": imbalance,
                "error": error,
                "regular": {spec: played[imbalance, 0.0, spec]["mean"] for spec in REGULAR[collective]},
                "elapsed": {spec: run["mean"] for spec, run in times.items()},
                "gain": {
                    spec: 100 * gain(run["mean"], min(other["mean"] for other in regular))
                    for spec, run in times.items()
                },
                "gain_run_time": {
                    spec: 100 * gain(run["seconds"], min(other["seconds"] for other in regular))
                    for spec, run in times.items()
                },
            }
        )
    return {"bytes": size, "balanced": alone, "tick": tick, "cells": cells}


def tables(result: dict[str, Any]) -> list[Table]:
    found = []
    for collective, part in result["collectives"].items():
        names = list(part["cells"][0]["gain"])
        heads = ("imbalance", "error", "best regular", *names)
        table = console.table(
            f"{collective}, {result['procs']} ranks, {_core.format_size(part['bytes'])}: gain in elapsed "
            f"time "
            f"(mean over ranks) over "
            "the best algorithm that does not mind arrivals",
            *heads,
            numbers=heads,
        )
        for cell in part["cells"]:
            regular = min(cell["regular"], key=lambda spec: cell["regular"][spec])
            table.add_row(
                f"{cell['imbalance']:g}",
                f"{100 * cell['error']:g} %",
                f"{seconds_text(cell['regular'][regular])} {regular.partition(';')[0]}",
                *(percent(cell["gain"][name], 0) for name in names),
            )
        found.append(table)
    return found


def sentences(result: dict[str, Any]) -> list[str]:
    said = []
    for collective, part in result["collectives"].items():
        cells = part["cells"]
        for spec in cells[0]["gain"]:
            top = max((cell for cell in cells if not cell["error"]), key=lambda cell: cell["gain"][spec])
            worst = max(
                (cell for cell in cells if cell["imbalance"] == USUAL), key=lambda cell: cell["error"]
            )
            said.append(
                f"{collective} {spec.partition(';')[0]}: at most {top['gain'][spec]:.0f} % with a true "
                f"forecast (imbalance "
                f"{top['imbalance']:g}); {worst['gain'][spec]:.0f} % where the forecast errs by as much "
                f"as ranks are late."
            )
    return said


def draw(result: dict[str, Any]) -> "Figure":
    from convene.studies import figures  # Matplotlib takes a second to load

    panels = []
    for collective, part in result["collectives"].items():
        true = [cell for cell in part["cells"] if not cell["error"]]
        wrong = [cell for cell in part["cells"] if cell["imbalance"] == USUAL]
        wrong.sort(key=lambda cell: cell["error"])
        for title, cells, key in (
            (f"{collective}, true forecast", true, "imbalance"),
            (f"{collective}, imbalance {USUAL:g}", wrong, "error"),
        ):
            curves = {
                spec.partition(";")[0]: [(cell[key], cell["gain"][spec]) for cell in cells]
                for spec in cells[0]["gain"]
            }
            panels.append((title, key, curves))
    return figures.gains(panels)


STUDY = Study(
    "forecast",
    "what forecasts gain on 4,096 nodes (this project's own); -p takes another number",
    run,
    tables,
    sentences,
    draw,
    run_on=run,
)
