# SPDX-License-Identifier: BSD-3-Clause
"""Every collective: Convene's algorithms compared with native ones of the same name, and the fastest of all.

In each run a pair stands side by side in one process, on communicators of their own, one directly after the
other in every repetition; a pair's ratio is the median of the ratios within repetitions. All other algorithms
of Convene's with their default parameters, and the native algorithm (`native`), take part in the same run.
Writes a summary (JSON) and tables (Markdown), and every observation into build/benchmarks/results.
"""

import argparse
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from convene import _core
from convene.base import console, parsing
from convene.base.result_types import MeasuredRun
from convene.base.text import bytes_text
from convene.bench import program, requests
from convene.catalogue import selection
from convene.mpi import settings
from convene.stats.bootstrap import Estimate, estimate, resample_medians
from rich.progress import Progress

from benchmarks import common
from benchmarks.common.native_pairs import PAIRS

LAUNCHERS = {
    "openmpi5": (".stacks/openmpi5/bin/mpirun", "openmpi"),
    "mpich5": (".stacks/mpich5/bin/mpiexec", "abi"),
}
MOST_MEAN = 1.05  # what is aimed at, for each collective

# Under these names the MPIs take another algorithm where there are fewer items than processes (of all but the
# ring: than the largest power of two of them): no pair then.
NEED_ITEMS = {"reduce": ("butterfly",), "allreduce": ("rabenseifner", "ring")}
ITEM = 4  # bytes


@dataclass(frozen=True)
class Pair:
    stack: str
    collective: str
    algorithm: str
    procs: int
    size: int
    ours: float  # seconds, medians
    theirs: float
    ratio: Estimate

    def as_json(self) -> dict[str, Any]:
        return {
            "stack": self.stack,
            "collective": self.collective,
            "algorithm": self.algorithm,
            "procs": self.procs,
            "bytes": self.size,
            "convene": self.ours,
            "mpi": self.theirs,
            **self.ratio.as_json("ratio"),
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Pair":
        ratio = Estimate(row["ratio"], row["low"], row["high"])
        return cls(
            row["stack"],
            row["collective"],
            row["algorithm"],
            row["procs"],
            row["bytes"],
            row["convene"],
            row["mpi"],
            ratio,
        )


@dataclass(frozen=True)
class Race:
    """One size and number of ranks: the fastest of Convene's algorithms and native. One half of the
    repetitions says which of Convene's is the best, the other half its gain: not luck of the best of many."""

    stack: str
    collective: str
    procs: int
    size: int
    fastest: str  # of all
    best: str  # of Convene's
    gain: float  # of it, as a part of native's time; negative: native is faster

    def as_json(self) -> dict[str, Any]:
        return {
            "stack": self.stack,
            "collective": self.collective,
            "procs": self.procs,
            "bytes": self.size,
            "fastest": self.fastest,
            "best": self.best,
            "gain": self.gain,
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Race":
        names = ("stack", "collective", "procs", "bytes", "fastest", "best", "gain")
        return cls(*(row[name] for name in names))


def contenders(stack: str, collective: str, procs: int) -> list[str]:
    """Pairs first, each next to its counterpart; then all others."""
    pairs = PAIRS[stack][collective]
    listed = [name for own, other in pairs.items() for name in (selection.OWN + other, own)]
    known = [a["name"] for a in _core.algorithms(collective) if not a["native"] and not a["parts"]]
    listed += [name for name in known if name not in pairs]
    possible = [
        name for name in listed if name.startswith(selection.OWN) or not _core.unmet(collective, name, procs)
    ]
    # A counterpart without its partner is of no use.
    counterparts = {selection.OWN + other: own for own, other in pairs.items()}
    return [name for name in possible if counterparts.get(name, name) in {*possible}] + ["native"]


def measure(stack: str, collective: str, procs: int, options: argparse.Namespace) -> MeasuredRun:
    launcher, library = LAUNCHERS[stack]
    setting = settings.find_setting(str(common.ROOT / launcher), library)
    request = requests.Request(
        collective,
        procs,
        [0] if collective == "barrier" else parsing.parse_sizes(options.sizes),
        contenders(stack, collective, procs),
        repetitions=options.repetitions,
        seconds=options.seconds,
        batch=options.batch * 1e-6,
        group=2,
        type="int" if _core.is_reduction(collective) else "byte",
    )
    return program.measure(setting, request, lambda _done, _total: None)


def evaluate(stack: str, result: MeasuredRun) -> tuple[list[Pair], list[Race]]:
    pairs: list[Pair] = []
    races: list[Race] = []
    collective, procs = result["collective"], result["procs"]
    for size in result["sizes"]:
        seconds = {one["name"]: np.array(one["seconds"]) for one in size["contenders"]}
        for own, other in PAIRS[stack][collective].items():
            counterpart = selection.OWN + other
            if own not in seconds or counterpart not in seconds:
                continue
            needed = procs if own == "ring" else 1 << (procs.bit_length() - 1)
            if own in NEED_ITEMS.get(collective, ()) and size["bytes"] // ITEM < needed:
                continue
            ratios = seconds[own] / seconds[counterpart]
            samples = resample_medians(ratios[np.newaxis], seed=len(pairs) + 1)[0]
            pairs.append(
                Pair(
                    *(stack, collective, own, procs, size["bytes"]),
                    float(np.median(seconds[own])),
                    float(np.median(seconds[counterpart])),
                    estimate(np.median(ratios), samples),
                )
            )
        medians = {
            name: float(np.median(each[::2])) for name, each in seconds.items() if selection.OWN not in name
        }
        best = min((name for name in medians if name != "native"), key=lambda name: medians[name])
        races.append(
            Race(
                *(stack, collective, procs, size["bytes"]),
                min(medians, key=lambda name: medians[name]),
                best,
                1 - float(np.median(seconds[best][1::2]) / np.median(seconds["native"][1::2])),
            )
        )
    return pairs, races


def mean(ratios: Iterable[float]) -> float:
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms))


def mean_of(pairs: list[Pair]) -> float:
    return mean(pair.ratio.value for pair in pairs)


def best_against_native(races: list[Race]) -> list[str]:
    """A table of Convene's best algorithm compared with native, over all sizes."""
    procs = sorted({race.procs for race in races})
    lines = [
        "| collective | " + " | ".join(f"{number} ranks" for number in procs) + " | all |",
        "|---|" + "---:|" * (len(procs) + 1),
    ]
    for collective in dict.fromkeys(race.collective for race in races):
        own = [race for race in races if race.collective == collective]
        groups = [[race for race in own if race.procs == number] for number in procs] + [own]
        cells = [f"{mean(1 - race.gain for race in group):.2f}" if group else "" for group in groups]
        lines.append(f"| {collective} | " + " | ".join(cells) + " |")
    return lines


def markdown(pairs: list[Pair], races: list[Race], about: str) -> str:
    lines = [about, ""]
    for stack in dict.fromkeys(pair.stack for pair in pairs):
        lines += [
            f"**{stack}**: Convene's time as a part of the MPI's with the same algorithm, geometric means",
            "",
            f"| collective | all (goal {MOST_MEAN:.2f}) | by algorithm | highest |",
            "|---|---:|---|---|",
        ]
        of_stack = [pair for pair in pairs if pair.stack == stack]
        for collective in dict.fromkeys(pair.collective for pair in of_stack):
            own = [pair for pair in of_stack if pair.collective == collective]
            names = dict.fromkeys(pair.algorithm for pair in own)
            each = ", ".join(
                f"{name} {mean_of([p for p in own if p.algorithm == name]):.2f}" for name in names
            )
            worst = max(own, key=lambda pair: pair.ratio.value)
            lines.append(
                f"| {collective} | {mean_of(own):.3f} | {each} | {worst.ratio.value:.2f} ({worst.algorithm}, "
                f"{worst.procs} ranks, {bytes_text(worst.size)}) |"
            )
        own_races = [race for race in races if race.stack == stack]
        about_best = "time of Convene's best as a fraction of native's, geometric means over sizes"
        lines += ["", f"**{stack}**: {about_best}", "", *best_against_native(own_races)]
        lines += ["", f"**{stack}**: who is fastest (gain of Convene's best over native)", ""]
        sizes = sorted({race.size for race in own_races if race.size > 0})
        lines += [
            "| collective | ranks | " + " | ".join(bytes_text(size) for size in sizes) + " |",
            "|---|---:|" + "---|" * len(sizes),
        ]
        for collective, procs in dict.fromkeys((race.collective, race.procs) for race in own_races):
            row = [r for r in own_races if (r.collective, r.procs) == (collective, procs)]
            cells = [
                f"{race.fastest} ({race.gain:+.0%})"
                if race.fastest == race.best
                else f"native ({race.best} {race.gain:+.0%})"
                for race in row
            ]
            lines.append(
                f"| {collective} | {procs} | " + " | ".join(cells + [""] * (len(sizes) - len(cells))) + " |"
            )
        lines.append("")
    return "\n".join(lines)


def as_text(result: dict[str, Any]) -> str:
    pairs = [Pair.from_json(row) for row in result["pairs"]]
    races = [Race.from_json(row) for row in result["fastest"]]
    return markdown(pairs, races, result["about"])


REPORT = common.Report(as_text)


def parse_arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--stacks", default="openmpi5,mpich5", help="default: %(default)s")
    parser.add_argument("--collectives", help="some of them, with commas (default: all that have pairs)")
    parser.add_argument("--procs", default="2,4", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--sizes", default="8,1KiB,32KiB,1MiB", help="bytes (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=60, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=3, help="for a size, about (default: %(default)s)")
    parser.add_argument(
        "--batch", type=float, default=200, help="µs of an observation (default: %(default)s)"
    )
    return parser.parse_args()


def plan(options: argparse.Namespace) -> list[tuple[str, str, int]]:
    wanted = options.collectives.split(",") if options.collectives else None
    stacks = options.stacks.split(",")
    for stack in stacks:
        if stack not in PAIRS:
            raise _core.RequestError(_core.no_such("stack", stack, list(PAIRS)))
    procs = parsing.parse_numbers(options.procs, "--procs", 2, 1024)
    return [
        (stack, collective, number)
        for stack in stacks
        for collective in PAIRS[stack]
        for number in procs
        if wanted is None or collective in wanted
    ]


def main() -> None:
    options = parse_arguments()
    for name in settings.OVERSUBSCRIBED:  # whoever starts this
        os.environ.pop(name, None)
    pairs: list[Pair] = []
    races: list[Race] = []
    runs: list[MeasuredRun] = []
    loads: list[float] = []
    environments: dict[str, Any] = {}
    output = console.make(error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        for stack, collective, procs in progress.track(plan(options), description="measuring"):
            result = measure(stack, collective, procs, options)
            runs.append(result)
            environments[stack] = result["environment"]
            loads += [float(size["load"][0].split()[0]) for size in result["sizes"]]
            more_pairs, more_races = evaluate(stack, result)
            pairs += more_pairs
            races += more_races
    first = next(iter(environments.values()))
    about = (
        f"{' and '.join(e['mpi'].split(',')[0] for e in environments.values())}; {first['processor']}, "
        f"{first['cores']} cores, {first['started'][:10]}. The load average before a size was "
        f"{min(loads):g} to {max(loads):g}, the benchmark's own ranks included."
    )
    summary: dict[str, Any] = {
        "about": about,
        "environments": environments,
        "pairs": [pair.as_json() for pair in pairs],
        "fastest": [race.as_json() for race in races],
    }
    common.keep(options, "every_collective", summary, {**summary, "runs": runs})


if __name__ == "__main__":
    common.run(main)
