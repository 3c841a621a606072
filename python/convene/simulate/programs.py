# SPDX-License-Identifier: BSD-3-Clause
"""Simulated programs: a skeleton with an algorithm for each of its collectives."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from convene import _core
from convene._core import RequestError
from convene.base.core_types import Simulated
from convene.catalogue.algorithms import uses_forecast
from convene.simulate import inputs, platforms
from convene.simulate.cases import QUIET, Case, Noise, extent_of
from convene.simulate.skeletons import Call, Compute, Skeleton

WINDOW = 8  # iterations whose arrivals a forecast is the mean of
MOST_ROUNDS = 1e6  # of a forecast, as in src/experiment/simulation_request.cpp


@dataclass(frozen=True)
class Setting:
    """Platform and options of a simulated program."""

    platform: platforms.Platform
    procs: int
    mapping: str = "sequential"
    exact: bool = False
    noise: Noise = QUIET
    seed: int = 1

    def case(self, call: Call, spec: str) -> Case:
        """One call with balanced arrivals."""
        return Case(
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
class Program(Case):
    """A skeleton with an algorithm for each of its calls. Every run is an iteration: `seconds` from the end
    of the one before, `mean` and `waiting` of all its calls together."""

    skeleton: Skeleton = field(default_factory=lambda: Skeleton("", 0, ()))
    specs: tuple[str, ...] = ()
    seed: int = 1

    def extent(self) -> tuple[str, int]:
        return extent_of_calls(self, self.skeleton.calls, self.specs)

    @property
    def parts(self) -> int:
        return self.skeleton.iterations

    def simulate(self, on_part: Callable[[], None] | None = None) -> list[list[Simulated]]:
        specs = iter(self.specs)
        steps: list[CallSimulation | Work] = [
            CallSimulation(self, step, next(specs), number)
            if isinstance(step, Call)
            else Work(self, step, number)
            for number, step in enumerate(self.skeleton.loop)
        ]
        now, done = [0.0] * self.procs, []
        for iteration in range(self.skeleton.iterations):
            begun = max(now)
            runs = []
            for step in steps:
                now, run = step.simulate(now, iteration)
                runs += [run] if run else []
            done.append(together(runs, max(now) - begun))
            if on_part:
                on_part()
        return [done]


def extent_of_calls(case: Case, calls: Sequence[Call], specs: Sequence[str]) -> tuple[str, int]:
    """Why a call cannot be simulated by its algorithm (empty if all can), and the steps of all."""
    found = [
        extent_of(call.collective, spec, case.procs, case.platform, case.mapping, call.root, apart=False)
        for call, spec in zip(calls, specs, strict=True)
    ]
    return next(filter(None, (refusal for refusal, _ in found)), ""), sum(steps for _, steps in found)


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

    def simulate(self, now: list[float], iteration: int) -> tuple[list[float], Simulated | None]:
        longer = self.delays[iteration % len(self.delays)]
        return [at + self.step.seconds + more * 1e-9 for at, more in zip(now, longer, strict=True)], None


class CallSimulation:
    """A call of a program. An algorithm with forecasts receives the mean of earlier arrivals."""

    def __init__(self, program: Program, call: Call, spec: str, number: int) -> None:
        self.program, self.call, self.spec, self.number = program, call, spec, number
        self.forecasts = uses_forecast(call.collective, spec)
        self.seen: deque[list[float]] = deque(maxlen=WINDOW)
        segments = int(_core.parameters(call.collective, spec).get("segments", 1))
        self.round = inputs.round_seconds(program.platform, call.bytes / segments) if self.forecasts else 0.0

    def simulate(self, now: list[float], iteration: int) -> tuple[list[float], Simulated | None]:
        first, program = min(now), self.program
        arrivals = [at - first for at in now]
        request = _core.SimulationRequest(
            collective=self.call.collective,
            spec=self.spec,
            procs=program.procs,
            root=self.call.root,
            placement=program.mapping,
            sizes=[self.call.bytes],
            arrivals=[arrivals],
            exact=program.exact,
            **program.noise.arguments(),
            stream=iteration * len(program.skeleton.loop) + self.number,
            forecasts=[self.expected()] if self.seen else (),
            exits=True,
        )
        (run,) = _core.simulate(request, program.platform.parsed)
        if self.forecasts:
            self.seen.append(arrivals)
        return [first + at for at in run["exits"]], run

    def expected(self) -> list[int]:
        """The forecast by the last iterations: arrivals in rounds after the earliest."""
        means = [fmean(each) for each in zip(*self.seen, strict=True)]
        return [int(min((at - min(means)) / self.round, MOST_ROUNDS)) for at in means]


def fastest(call: Call, setting: Setting, simulate: Callable[[list[Any]], list[Any]]) -> str:
    """The fastest algorithm with balanced arrivals."""
    cases = [setting.case(call, spec) for spec in able(call, setting)]
    runs = simulate(cases)
    best = min(range(len(cases)), key=lambda i: runs[i][0][0]["seconds"])
    return cases[best].spec


def able(call: Call, setting: Setting) -> list[str]:
    """The algorithms that can be simulated."""
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
    skeleton: Skeleton, uses: list[str], setting: Setting, simulate: Callable[[list[Any]], list[Any]]
) -> list[Program]:
    """One for each of `uses`, such as "allgather=ring,bcast=chain"; without any, one for each algorithm of
    the first collective that has none. The other calls take the algorithm that is the
    fastest with balanced arrivals."""
    for call in skeleton.calls:
        if call.root >= setting.procs:
            raise RequestError(
                f"root {call.root} of {call.collective} in the skeleton is out of range (-p "
                f"{setting.procs}); use more ranks"
            )
    free = [call for call in skeleton.calls if not call.algorithm]
    chosen = {call: fastest(call, setting, simulate) for call in free}
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
            raise RequestError(
                f"--use {text}: the skeleton has no {min(unknown)} without a fixed algorithm; leave it out"
            )
        specs = tuple(call.algorithm or use.get(call.collective) or chosen[call] for call in skeleton.calls)
        for call, spec in zip(skeleton.calls, specs, strict=True):
            if spec == "native":
                raise RequestError(
                    f"--use {text}: native has no schedule to simulate; name another algorithm"
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
