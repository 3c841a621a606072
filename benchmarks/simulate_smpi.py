# SPDX-License-Identifier: BSD-3-Clause
"""The built-in simulator compared with SimGrid's SMPI, and Convene's algorithms with those of SMPI.

Every algorithm of five collectives is simulated twice on one platform: by the built-in simulator, from its
schedule, and in SMPI, where the executor runs it. An error is the factor between both times, the greater over
the smaller. In SMPI, its selectors run as baselines. Writes a summary (JSON) and tables (Markdown).
"""

import json
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean, median
from typing import Any

from convene import _core
from convene.base import parsing
from convene.base.text import bytes_text
from convene.catalogue import collectives
from convene.simulate import platforms, smpi, sweeps
from convene.simulate.cases import Case
from convene.simulate.journal import Journal

from benchmarks import common

COLLECTIVES = ("allgather", "gather", "scatter", "bcast", "reduce")
BASELINES = ("ompi", "mpich", "mvapich2")

# Nodes on one switch, as Tryton's. Copies and asking before large messages cost nothing, since SMPI does not
# count them, and receiving neither, which it counts for small messages only.
PLATFORM = {
    "convene_platform": 1,
    "name": "switch",
    "machine": "node:32 core:8",
    "within": {"node": {"latency": 5e-7, "bandwidth": 6e9}},
    "network": {"shape": "one_switch", "node": {"latency": 1e-6, "bandwidth": 5e9}},
    "processor": {"send": 4e-7, "recv": 0, "copy": 0},
    "eager": "12KiB",
    "asks": False,
}


@dataclass(frozen=True)
class Cell:
    """Times by name in one cell, in seconds."""

    collective: str
    procs: int
    bytes: int
    builtin: dict[str, float]
    smpi: dict[str, float]  # those of the baselines, too

    @property
    def errors(self) -> list[float]:
        pairs = [(seconds, self.smpi[name]) for name, seconds in self.builtin.items()]
        return [max(one, other) / min(one, other) for one, other in pairs]

    @property
    def has_same_winner(self) -> bool:
        """True if the built-in simulator's best algorithm is the best in SMPI, or within 1 % of it."""
        best = min(self.builtin, key=lambda name: self.builtin[name])
        return self.smpi[best] <= 1.01 * min(self.smpi[name] for name in self.builtin)

    @property
    def gain(self) -> float:
        """1 - t/t2, Convene's best against the best of SMPI's selectors; below 0 where that is better."""
        own = min(self.smpi[name] for name in self.builtin)
        other = min(seconds for name, seconds in self.smpi.items() if name.startswith(smpi.SMPI))
        return 1 - own / other


def names_of(collective: str, procs: int) -> list[str]:
    return [
        known["name"]
        for known in _core.algorithms(collective)
        if not known["native"]
        and not known["parts"]
        and not known["shares_memory"]
        and not _core.unmet(collective, known["name"], procs)
    ]


def simulate(
    platform: platforms.Platform,
    procs: Iterable[int],
    sizes: tuple[int, ...],
    only: list[str],
    journal: Journal,
) -> list[Cell]:
    cells: dict[tuple[str, int, int], Cell] = {}
    cases: list[Case] = []
    for collective in only:
        for number in procs:
            of_size = [Cell(collective, number, size, {}, {}) for size in sizes]
            cells.update({(collective, number, cell.bytes): cell for cell in of_size})
            arrivals = ((0.0,) * number,)
            for name in names_of(collective, number):
                call = (collective, name, number, sizes, platform, "sequential", arrivals, True)
                case = Case(*call, ordered=True)
                for cell, (in_builtin,) in zip(of_size, case.simulate(), strict=True):
                    cell.builtin[name] = in_builtin["seconds"]
                cases.append(smpi.SmpiCase(*call))
            for baseline in BASELINES:
                spec = smpi.SMPI + baseline
                call = (collective, spec, number, sizes, platform, "sequential", arrivals, True)
                cases.append(smpi.SmpiCase(*call))
            print(f"\rsimulated: {collective}, {number} ranks   ", end="", file=sys.stderr)
    print(file=sys.stderr)
    simulated = sweeps.simulate_all(cases, show_progress, journal)
    for case, of_case in zip(cases, simulated, strict=True):
        for size, (in_smpi,) in zip(case.sizes, of_case, strict=True):
            cells[case.collective, case.procs, size].smpi[case.spec] = in_smpi["seconds"]
    print(file=sys.stderr)
    return list(cells.values())


def show_progress(done: int, total: int, _share: float) -> None:
    print(f"\r{done} of {total}", end="", file=sys.stderr)


def summarize(cells: list[Cell]) -> dict[str, Any]:
    errors = [error for cell in cells for error in cell.errors]
    gains = [cell.gain for cell in cells]
    won = [gain for gain in gains if gain > 0]
    return {
        "cells": len(cells),
        "pairs": len(errors),
        "median_error": median(errors),
        "ninth_decile_error": sorted(errors)[math.ceil(0.9 * len(errors)) - 1],
        "worst_error": max(errors),
        "same_winner": fmean(cell.has_same_winner for cell in cells),
        "won_against_selectors": len(won) / len(cells),
        "mean_gain_where_won": fmean(won) if won else 0.0,
        "mean_loss_where_not": -fmean([gain for gain in gains if gain <= 0] or [0.0]),
    }


def groups_of(cells: list[Cell]) -> dict[str, list[Cell]]:
    groups = {"all": cells}
    for collective in dict.fromkeys(cell.collective for cell in cells):
        groups[collective] = [cell for cell in cells if cell.collective == collective]
    for number in sorted({cell.procs for cell in cells}):
        groups[f"{number} ranks"] = [cell for cell in cells if cell.procs == number]
    for size in sorted({cell.bytes for cell in cells}):
        groups[bytes_text(size)] = [cell for cell in cells if cell.bytes == size]
    return groups


def worst(cells: list[Cell], count: int) -> list[dict[str, Any]]:
    """The pairs that differ most."""
    pairs: list[dict[str, Any]] = [
        {
            "collective": cell.collective,
            "algorithm": name,
            "procs": cell.procs,
            "bytes": cell.bytes,
            "simulator": seconds,
            "smpi": cell.smpi[name],
        }
        for cell in cells
        for name, seconds in cell.builtin.items()
    ]
    return sorted(pairs, key=lambda pair: -abs(math.log(pair["simulator"] / pair["smpi"])))[:count]


def as_text(summaries: dict[str, dict[str, Any]], pairs: list[dict[str, Any]]) -> str:
    lines = [
        "| cells | number | median error | ninth decile | worst | same winner | Convene wins | gain then |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, one in summaries.items():
        errors = " | ".join(
            f"{one[key]:.3f}" for key in ("median_error", "ninth_decile_error", "worst_error")
        )
        lines.append(
            f"| {name} | {one['cells']} | {errors} | {one['same_winner']:.0%} | "
            f"{one['won_against_selectors']:.0%} | {one['mean_gain_where_won']:.1%} |"
        )
    lines += [
        "",
        "The pairs that differ most:",
        "",
        "| | ranks | bytes | simulator | SMPI |",
        "|---|---:|---:|---:|---:|",
    ]
    for pair in pairs:
        which = f"{pair['collective']} {pair['algorithm']} | {pair['procs']}"
        seconds = " | ".join(f"{1e6 * pair[key]:.1f} µs" for key in ("simulator", "smpi"))
        lines.append(f"| {which} | {bytes_text(pair['bytes'])} | {seconds} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument(
        "--procs",
        default="16,64,128,256",
        help="numbers of ranks, at most 256 (default: 16,64,128,256)",
    )
    parser.add_argument("--sizes", default="1KiB:1MiB:4", help="bytes per block (default: 1KiB:1MiB:4)")
    parser.add_argument("--collectives", default=",".join(COLLECTIVES), help="default: all five")
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run")
    options = parser.parse_args()
    smpi.find_launcher()
    procs = parsing.parse_numbers(options.procs, "--procs", 2, 256)
    sizes = tuple(parsing.parse_sizes(options.sizes))
    only = [collectives.check_collective(name) for name in options.collectives.split(",")]
    text = json.dumps(PLATFORM)
    platform = platforms.Platform(text, "the benchmark's platform")
    options.output.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.output / "simulate_smpi.journal")
    if options.resume:
        journal.read()
    cells = simulate(platform, procs, sizes, only, journal)
    result = {
        "when": datetime.now(UTC).strftime("%Y-%m-%d"),
        "platform": PLATFORM,
        "procs": procs,
        "sizes": sizes,
        "summary": {name: summarize(group) for name, group in groups_of(cells).items()},
        "worst": worst(cells, 8),
    }
    common.keep(options, "simulate_smpi", result)
    journal.remove()


REPORT = common.Report(lambda result: as_text(result["summary"], result["worst"]))


if __name__ == "__main__":
    common.run(main)
