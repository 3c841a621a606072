# SPDX-License-Identifier: BSD-3-Clause
"""Simulations: platforms, arrivals, and sweeps over algorithms and sizes on all cores."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from convene import __version__, _core, paths
from convene._core import RequestError
from convene.shapes import Simulated

PLATFORMS = paths.PACKAGE / "machines"
SMALL = 1024  # so many processes can always be simulated
QUIET = ("none", 0.0, 0.0, 1)
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Platform:
    """A platform's text, and the file that it came from."""

    text: str
    file: str

    @property
    def name(self) -> str:
        return _core.simulated_machine(self.text, self.file)["name"]

    @property
    def nodes(self) -> int:
        return _core.simulated_machine(self.text, self.file)["nodes"]

    def with_nodes(self, nodes: int) -> "Platform":
        """The same with another number of nodes on one switch."""
        changed = json.loads(self.text)
        levels = changed["machine"].replace(",", " ").split()
        changed["machine"] = " ".join(
            f"node:{nodes}" if level.startswith("node:") else level for level in levels
        )
        return Platform(json.dumps(changed), f"{self.file} with {nodes} nodes")


@dataclass(frozen=True)
class Case:
    """An algorithm with a number of processes and a mapping, to be played for several sizes and arrivals."""

    collective: str
    spec: str
    procs: int
    sizes: tuple[int, ...]
    platform: Platform
    mapping: str
    arrivals: tuple[tuple[float, ...], ...]
    exact: bool = False
    critical_path: bool = False
    root: int = 0
    noise: tuple[str, float, float, int] = QUIET  # kind, mean, shape, seed
    forecasts: tuple[tuple[int, ...], ...] = ()  # by pattern: in how many rounds each rank is expected
    begins: tuple[tuple[float, ...], ...] = ()  # by pattern: when ranks begin, if not when they arrive
    blocks: tuple[tuple[int, ...], ...] = ()  # by size: each rank's block in bytes, if they differ
    ordered: bool = False  # whether ranks go through their steps in the executor's order

    engine: ClassVar[str] = "player"

    def environment(self) -> dict[str, Any]:
        """What stands for the machine and the MPI in a report."""
        machine = _core.simulated_machine(self.platform.text, self.platform.file)
        return {
            "mpi": f"{self.engine} of Convene {__version__}",
            "processor": f"simulated platform {machine['name']}",
            "cores": machine["cores"],
            "hosts": [f"{machine['nodes']} nodes"],  # together
            "started": "in simulated time",
        }

    def refusal(self) -> str:
        """Why it cannot be played, such as too many processes; empty where it can."""
        return refusal_of(
            self.collective,
            self.spec,
            self.procs,
            self.platform,
            self.mapping,
            self.root,
            apart=bool(self.blocks),
        )

    @property
    def plays(self) -> int:
        """How many parts of it there are that play() tells of, at most."""
        return max(1, len(self.sizes) * len(self.arrivals))

    def play(self, on_play: Callable[[], None] | None = None) -> list[list[Simulated]]:
        """By size, then by pattern of arrivals."""
        runs = _core.simulate(
            self.collective,
            self.spec,
            self.procs,
            self.sizes,
            self.platform.text,
            self.platform.file,
            self.mapping,
            self.arrivals,
            self.exact,
            self.critical_path,
            self.root,
            *self.noise,
            0,
            self.forecasts,
            self.begins,
            self.blocks,
            ordered=self.ordered,
            on_play=on_play,
        )
        each = len(self.arrivals)
        return [runs[first : first + each] for first in range(0, len(runs), each)]

    @classmethod
    def stop(cls, *, stop: bool) -> None:
        """Whether cases end early, those that are being played in other threads and those to come."""
        _core.stop_simulations(stop)


@cache
def refusal_of(
    collective: str, spec: str, procs: int, platform: Platform, mapping: str, root: int, *, apart: bool
) -> str:
    """Why a case cannot be played; `apart`: with blocks of sizes of their own. Asked once: for many
    processes it takes seconds, and whether there is too little time is not always answered alike."""
    place = platform.text, platform.file, mapping
    try:
        return _core.simulation_refusal(collective, spec, procs, *place, root, apart)
    except RequestError as error:
        return str(error)
    except MemoryError:
        return f"{spec} on {procs} processes needs too much memory; take fewer processes"


def known_platforms() -> list[str]:
    return sorted(path.stem for path in PLATFORMS.glob("*.json"))


def load_platform(name: str) -> Platform:
    """One of the platforms that Convene brings, or a file."""
    path = PLATFORMS / f"{name}.json" if name in known_platforms() else Path(name)
    if path.suffix != ".json" and not path.is_file():
        raise RequestError(_core.no_such("platform", name, known_platforms()) + "; or name a .json file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise RequestError(f"{path} cannot be read: {why}") from None
    if '"model"' in text and not is_platform(text):
        raise RequestError(
            f"{path} is a platform for convene predict: it has parameters of models, no links and processors"
        )
    platform = Platform(text, str(path))
    _core.simulated_machine(text, platform.file)
    return platform


def is_platform(text: str) -> bool:
    """Whether a file is meant as a platform of simulations; those of the models are another kind."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and "convene_platform" in value


def parse_seconds(text: str, what: str) -> float:
    """Seconds from "0.5", "5ms" or "20us"."""
    number, factor = text.strip(), 1.0
    for unit in sorted(UNITS, key=len, reverse=True):
        if number.endswith(unit):
            number, factor = number.removesuffix(unit).strip(), UNITS[unit]
            break
    try:
        seconds = float(number) * factor
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise RequestError(f"{what} '{text}' is not a time from 0 on, such as 0.5, 5ms or 20us")
    return seconds


def parse_noise(text: str, seed: int) -> tuple[str, float, float, int]:
    """Noise: none, exponential:SECONDS, pareto:SECONDS:SHAPE, bernoulli:PROBABILITY:SECONDS."""
    kind, *values = text.split(":")
    try:
        if text == "none":
            return QUIET
        if kind == "exponential" and len(values) == 1:
            return kind, parse_seconds(values[0], "--noise: the mean"), 0.0, seed
        if kind == "pareto" and len(values) == 2:
            return kind, parse_seconds(values[0], "--noise: the mean"), float(values[1]), seed
        if kind == "bernoulli" and len(values) == 2:
            return kind, parse_seconds(values[1], "--noise: the delay"), float(values[0]), seed
    except ValueError:
        pass
    raise RequestError(
        f"--noise '{text}' is none of none, exponential:SECONDS, pareto:SECONDS:SHAPE, "
        "bernoulli:PROBABILITY:SECONDS"
    )


def round_seconds(platform: Platform, size: float) -> float:
    """τ: how long it takes two nodes to swap one block of so many bytes."""
    nodes = "0,1" if platform.nodes > 1 else "0,0"
    (run,) = _core.simulate("allgather", "ring", 2, [size], platform.text, platform.file, nodes, [[0.0, 0.0]])
    return max(run["seconds"], 1e-12)  # a platform may have no costs


def make_arrivals(text: str, procs: int, repetitions: int, seed: int) -> list[list[float]]:
    """Patterns of arrival, in seconds for each rank: those of convene bench, or a file's name for its trace.
    Random ones are made `repetitions` times, of a trace there is each line."""
    pattern = f"trace:{text}" if Path(text).is_file() else text
    calls = _core.arrival_delays(pattern, procs, repetitions, seed)
    return [[delay * 1e-9 for delay in delays] for delays in calls]


class Journal:
    """What has been played: a file to which each case is added when it is done, as a line with its key and
    its runs. Who is interrupted need not begin again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, list[list[Simulated]]] = {}

    def read(self) -> None:
        """Takes over what an earlier run has done. Its last line may be cut off."""
        if not self.path.is_file():
            return
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError):
                key, runs = json.loads(line)
                self.known[key] = runs

    def begin(self) -> None:
        """Writes what is known already, so that the file has nothing but whole lines."""
        text = "".join(json.dumps(entry) + "\n" for entry in self.known.items())
        try:
            self.path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RequestError(f"{self.path} cannot be written: {error.strerror}") from None

    def add(self, case: Case, runs: list[list[Simulated]]) -> None:
        self.known[self.key(case)] = runs
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([self.key(case), runs]) + "\n")

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    @staticmethod
    def key(case: Case) -> str:
        """Equal for equal questions to the same version of Convene."""
        words = (__version__, type(case).__name__, repr(case))
        return hashlib.sha256("\n".join(words).encode()).hexdigest()


def require_possible(cases: Sequence[Case]) -> None:
    for case in cases:
        if case.procs > SMALL and (refusal := case.refusal()):
            raise RequestError(refusal)


class Course:
    """How many plays of how many are done, as threads tell."""

    def __init__(self, on_progress: Callable[[int, int], None] | None, total: int) -> None:
        self.on_progress, self.total, self.done = on_progress, total, 0
        self.lock = Lock()

    def advance(self, plays: int) -> None:
        with self.lock:
            self.done += plays
            if self.on_progress and plays:
                self.on_progress(self.done, self.total)


def play_all(
    cases: Sequence[Case],
    on_progress: Callable[[int, int], None] | None = None,
    journal: Journal | None = None,
) -> list[list[list[Simulated]]]:
    """Plays all cases on all cores, but those that the journal knows; the largest are begun first. Refuses
    before it begins what one of them would refuse. `on_progress` is told how many plays of how many are done,
    by any thread."""
    require_possible(cases)
    known = journal.known if journal else {}
    results = [known.get(Journal.key(case)) if known else None for case in cases]
    if journal:
        journal.begin()
    left = [i for i, result in enumerate(results) if result is None]
    course = Course(on_progress, sum(case.plays for case in cases))
    course.advance(course.total - sum(cases[i].plays for i in left))

    def play(case: Case) -> list[list[Simulated]]:
        told = 0

        def tell() -> None:
            nonlocal told
            told += 1
            course.advance(1)

        runs = case.play(tell)
        course.advance(case.plays - told)
        return runs

    kinds = {type(case) for case in cases}
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        running = {pool.submit(play, cases[i]): i for i in sorted(left, key=lambda i: -cases[i].procs)}
        for future in as_completed(running):
            i = running[future]
            results[i] = runs = future.result()
            if journal:
                journal.add(cases[i], runs)
    except BaseException:
        for kind in kinds:
            kind.stop(stop=True)
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for kind in kinds:
            kind.stop(stop=False)
    return [result for result in results if result is not None]


def as_result(
    cases: Sequence[Case], runs: Sequence[list[list[Simulated]]], options: dict[str, Any]
) -> dict[str, Any]:
    """In the shape of a measurement: by size, then by algorithm."""
    first = cases[0]
    sizes = []
    for i, size in enumerate(first.sizes):
        contenders = [contender(case.spec, results[i]) for case, results in zip(cases, runs, strict=True)]
        sizes.append({"bytes": size, "arrivals": options["arrivals"], "calls": 1, "contenders": contenders})
    return {
        "format": 1,
        "simulated": True,
        "metric": "run_time",
        "environment": first.environment(),
        "collective": first.collective,
        "procs": first.procs,
        "root": first.root,
        "platform": json.loads(first.platform.text),
        "options": options,
        "sizes": sizes,
    }


def contender(name: str, runs: list[Simulated]) -> dict[str, Any]:
    """One algorithm at one size: a number for each pattern of arrivals."""
    value: dict[str, Any] = {"name": name}
    value |= {"seconds": [run["seconds"] for run in runs], "mean": [run["mean"] for run in runs]}
    first = runs[0]
    if "waiting" in first:  # SMPI does not say
        value["waiting"] = [run["waiting"] for run in runs]
        value |= {"messages": first["messages"], "sent": first["bytes"], "channels": first["channels"]}
    if first.get("critical_path"):
        value["critical_path"] = first["critical_path"]
    return value
