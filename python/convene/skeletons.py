# SPDX-License-Identifier: BSD-3-Clause
"""Skeletons of applications: a loop of computation and collectives, played as a whole, so that what an
algorithm does to a program shows. Who leaves a collective late comes late to the next one."""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from convene import _core, bench, simulation
from convene._core import RequestError
from convene.shapes import Simulated

MOST_ITERATIONS = 100_000
WINDOW = 8  # iterations whose arrivals a forecast is the mean of


@dataclass(frozen=True)
class Compute:
    """Every rank computes for so long, and some for longer."""

    seconds: float
    late: str = "none"  # a pattern of arrival: how much longer each rank computes
    recurring: bool = False  # drawn once, and the same in all iterations


@dataclass(frozen=True)
class Call:
    collective: str
    bytes: int
    root: int = 0
    algorithm: str = ""  # empty: it may be chosen


@dataclass(frozen=True)
class Skeleton:
    name: str
    iterations: int
    loop: tuple[Compute | Call, ...]

    @property
    def calls(self) -> list[Call]:
        return [step for step in self.loop if isinstance(step, Call)]


class Fields:
    """The members of a JSON object, each taken once; what nobody takes is refused."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise RequestError(f"{where} is not an object, as in {{…}}")
        self.left = dict(value)
        self.where = where

    def take(self, name: str, kinds: type | tuple[type, ...], default: Any = None) -> Any:
        value = self.left.pop(name, default)
        if value is None:
            raise RequestError(f"{self.where} has no field {name}")
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise RequestError(f"{self.where}: field {name} cannot be {json.dumps(value)}")
        return value

    def end(self) -> None:
        if self.left:
            raise RequestError(f"{self.where} has an unknown field {next(iter(self.left))}")


def read(path: Path) -> Skeleton:
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise RequestError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise RequestError(f"{path} is no JSON: {error}") from None
    fields = Fields(value, str(path))
    if fields.take("convene_skeleton", int) != 1:
        raise RequestError(f"{path}: field convene_skeleton must be 1, the version of this format")
    name = fields.take("name", str)
    iterations = fields.take("iterations", int)
    if not 1 <= iterations <= MOST_ITERATIONS:
        raise RequestError(f"{path}: field iterations must be from 1 to {MOST_ITERATIONS}, not {iterations}")
    steps = fields.take("loop", list)
    fields.take("note", str, "")
    fields.end()
    loop = tuple(read_step(Fields(step, f"{path}: loop[{i}]")) for i, step in enumerate(steps))
    skeleton = Skeleton(name, iterations, loop)
    if not skeleton.calls:
        raise RequestError(f"{path}: there is no collective in the loop")
    return skeleton


def read_step(fields: Fields) -> Compute | Call:
    if "compute" in fields.left:
        compute = Compute(
            simulation.parse_seconds(fields.take("compute", str), f"{fields.where}: compute"),
            fields.take("late", str, "none"),
            fields.take("recurring", bool, False),
        )
        fields.end()
        return compute
    if "collective" not in fields.left:
        raise RequestError(f"{fields.where} is neither a computation (compute) nor a collective")
    collective = fields.take("collective", str)
    if collective not in _core.collectives() or _core.is_neighborhood(collective):
        known = [name for name in _core.collectives() if not _core.is_neighborhood(name)]
        raise RequestError(f"{fields.where}: {_core.no_such('collective', collective, known)}")
    size = fields.take("bytes", (int, str), 0 if collective == "barrier" else None)
    root = fields.take("root", int, 0)
    algorithm = fields.take("algorithm", str, "")
    fields.end()
    try:
        bytes_per_block = _core.size(size) if isinstance(size, str) else size
        spec = _core.spec(collective, algorithm) if algorithm else ""
    except RequestError as error:
        raise RequestError(f"{fields.where}: {error}") from None
    if not 0 <= root < 2**31:
        raise RequestError(f"{fields.where}: root {root} is no rank")
    if bytes_per_block and collective in bench.WITHOUT_SIZES:
        raise RequestError(f"{fields.where}: {collective} carries no data; leave out bytes")
    if bytes_per_block < 0 or (root and not _core.is_rooted(collective)):
        what = f"bytes cannot be {size}" if bytes_per_block < 0 else f"{collective} has no root"
        raise RequestError(f"{fields.where}: {what}")
    return Call(collective, bytes_per_block, root, spec)


@dataclass(frozen=True)
class Setting:
    """On what programs are played."""

    platform: simulation.Platform
    procs: int
    mapping: str = "sequential"
    exact: bool = False
    noise: tuple[str, float, float, int] = simulation.QUIET
    seed: int = 1

    def case(self, call: Call, spec: str) -> simulation.Case:
        """One call, to which all come at once."""
        return simulation.Case(
            call.collective,
            spec,
            self.procs,
            (call.bytes,),
            self.platform,
            self.mapping,
            ((0.0,) * self.procs,),
            self.exact,
            root=call.root,
        )


@dataclass(frozen=True)
class Program(simulation.Case):
    """A skeleton with an algorithm for each of its calls. Every run is an iteration: `seconds` from the end
    of the one before, `mean` and `waiting` of all its calls together."""

    skeleton: Skeleton = field(default_factory=lambda: Skeleton("", 0, ()))
    specs: tuple[str, ...] = ()
    seed: int = 1

    def refusal(self) -> str:
        asked = zip(self.skeleton.calls, self.specs, strict=True)
        found = (
            simulation.refusal_of(
                call.collective, spec, self.procs, self.platform, self.mapping, call.root, apart=False
            )
            for call, spec in asked
        )
        return next(filter(None, found), "")

    @property
    def plays(self) -> int:
        return self.skeleton.iterations

    def play(self, on_play: Callable[[], None] | None = None) -> list[list[Simulated]]:
        specs = iter(self.specs)
        steps: list[Player | Work] = [
            Player(self, step, next(specs), number) if isinstance(step, Call) else Work(self, step, number)
            for number, step in enumerate(self.skeleton.loop)
        ]
        now, done = [0.0] * self.procs, []
        for iteration in range(self.skeleton.iterations):
            begun = max(now)
            runs = []
            for step in steps:
                now, run = step.play(now, iteration)
                runs += [run] if run else []
            done.append(together(runs, max(now) - begun))
            if on_play:
                on_play()
        return [done]


def together(runs: list[Simulated], seconds: float) -> Simulated:
    """The calls of an iteration."""
    return {
        "seconds": seconds,
        "mean": sum(run["mean"] for run in runs),
        "waiting": sum(run["waiting"] for run in runs),
        "messages": sum(run["messages"] for run in runs),
        "bytes": sum(run["bytes"] for run in runs),
        "channels": {},
    }


class Work:
    """A computation of a program."""

    def __init__(self, program: Program, step: Compute, number: int) -> None:
        self.step = step
        drawn = 1 if step.recurring else program.skeleton.iterations
        self.delays = _core.arrival_delays(step.late, program.procs, drawn, program.seed + number)

    def play(self, now: list[float], iteration: int) -> tuple[list[float], Simulated | None]:
        longer = self.delays[iteration % len(self.delays)]
        return [at + self.step.seconds + more * 1e-9 for at, more in zip(now, longer, strict=True)], None


class Player:
    """A call of a program. An algorithm that uses a forecast gets the mean of what was seen."""

    def __init__(self, program: Program, call: Call, spec: str, number: int) -> None:
        self.program, self.call, self.spec, self.number = program, call, spec, number
        self.forecasts = _core.learns(call.collective, spec) == "forecast"
        self.seen: deque[list[float]] = deque(maxlen=WINDOW)
        segments = int(_core.parameters(call.collective, spec).get("segments", 1))
        self.round = (
            simulation.round_seconds(program.platform, call.bytes / segments) if self.forecasts else 0.0
        )

    def play(self, now: list[float], iteration: int) -> tuple[list[float], Simulated | None]:
        first, program = min(now), self.program
        came = [at - first for at in now]
        kind, mean, shape, seed = program.noise
        (run,) = _core.simulate(
            self.call.collective,
            self.spec,
            program.procs,
            [self.call.bytes],
            program.platform.text,
            program.platform.file,
            program.mapping,
            [came],
            program.exact,
            False,
            self.call.root,
            kind,
            mean,
            shape,
            seed,
            iteration * len(program.skeleton.loop) + self.number,
            [self.expected()] if self.seen else (),
            exits=True,
        )
        if self.forecasts:
            self.seen.append(came)
        return [first + at for at in run["exits"]], run

    def expected(self) -> list[int]:
        """In how many rounds after the earliest each rank comes, by the last iterations."""
        means = [fmean(each) for each in zip(*self.seen, strict=True)]
        return [int((at - min(means)) / self.round) for at in means]


def fastest(call: Call, setting: Setting, play: Callable[[list[Any]], list[Any]]) -> str:
    """The algorithm that takes the least time where all come at once."""
    cases = [setting.case(call, spec) for spec in able(call, setting)]
    runs = play(cases)
    best = min(range(len(cases)), key=lambda i: runs[i][0][0]["seconds"])
    return cases[best].spec


def able(call: Call, setting: Setting) -> list[str]:
    """The algorithms that can be played."""
    return [
        known["name"]
        for known in _core.algorithms(call.collective)
        if not known["native"]
        and not known["parts"]
        and not known["shares_memory"]
        and not _core.unmet(call.collective, known["name"], setting.procs)
        and not setting.case(call, known["name"]).refusal()
    ]


def programs(
    skeleton: Skeleton, uses: list[str], setting: Setting, play: Callable[[list[Any]], list[Any]]
) -> list[Program]:
    """One for each of `uses`, such as "allgather=ring,bcast=chain"; without any, one for each algorithm of
    the first collective that has none. Calls of which nobody says anything take the algorithm that is the
    fastest where all come at once."""
    for call in skeleton.calls:
        if call.root >= setting.procs:
            raise RequestError(
                f"the skeleton's {call.collective} has the root {call.root}, and -p {setting.procs} has no "
                "such rank"
            )
    free = [call for call in skeleton.calls if not call.algorithm]
    chosen = {call: fastest(call, setting, play) for call in free}
    if uses:
        wanted = [(text, dict(_core.uses(text))) for text in uses]
    elif free:
        name = free[0].collective
        wanted = [(f"{name}={spec}", {name: spec}) for spec in able(free[0], setting)]
    else:
        wanted = [("as it is", {})]
    found = []
    for text, use in wanted:
        unknown = set(use) - {call.collective for call in free}
        if unknown:
            raise RequestError(f"--use {text}: the skeleton leaves no {min(unknown)} to be chosen")
        specs = tuple(call.algorithm or use.get(call.collective) or chosen[call] for call in skeleton.calls)
        for call, spec in zip(skeleton.calls, specs, strict=True):
            if spec == "native":
                raise RequestError(
                    f"--use {text}: native is the MPI's own, and Convene has no schedule of it"
                )
            if why := _core.unmet(call.collective, spec, setting.procs):
                raise RequestError(f"{call.collective}={spec} {why}, not {setting.procs}")
        found.append(
            Program(
                skeleton.name,
                text,
                setting.procs,
                ((free or skeleton.calls)[0].bytes,),
                setting.platform,
                setting.mapping,
                (),
                setting.exact,
                noise=setting.noise,
                skeleton=skeleton,
                specs=specs,
                seed=setting.seed,
            )
        )
    return found
