# SPDX-License-Identifier: BSD-3-Clause
"""Simulation cases: one algorithm on one platform, for several sizes and arrival patterns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple, TypedDict

from convene import __version__, _core
from convene._core import RequestError
from convene.base.core_types import Simulated
from convene.base.result_types import Environment
from convene.catalogue.schedule_files import ScheduleFile
from convene.simulate.platforms import Platform

SMALL = 1024  # this number of processes can always be simulated


class NoiseArguments(TypedDict):
    """Noise as fields of a simulation request."""

    noise: str
    noise_mean: float
    noise_shape: float
    seed: int


class Noise(NamedTuple):
    """What delays processors at each piece of work."""

    kind: str = "none"
    mean: float = 0.0  # seconds
    shape: float = 0.0  # of Pareto's distribution, or Bernoulli's probability
    seed: int = 1

    def arguments(self) -> NoiseArguments:
        return {
            "noise": self.kind,
            "noise_mean": self.mean,
            "noise_shape": self.shape,
            "seed": self.seed,
        }


QUIET = Noise()


@dataclass(frozen=True)
class Case:
    """An algorithm with a number of processes and a mapping, with sizes and arrival patterns."""

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
    noise: Noise = QUIET
    forecasts: tuple[tuple[int, ...], ...] = ()  # by pattern: in how many rounds each rank is expected
    begins: tuple[tuple[float, ...], ...] = ()  # by pattern: when ranks begin, if not when they arrive
    blocks: tuple[tuple[int, ...], ...] = ()  # by size: each rank's block in bytes, if they differ
    ordered: bool = False  # whether ranks go through their steps in the executor's order
    schedule: ScheduleFile | None = None  # in place of the spec, which is then its file

    engine: ClassVar[str] = "builtin"

    @property
    def name(self) -> str:
        """The contender's name in a report."""
        return self.spec

    def environment(self) -> Environment:
        """The machine and the MPI as shown in a report."""
        machine = self.platform.machine
        return {
            "mpi": f"{self.engine} of Convene {__version__}",
            "processor": f"simulated platform {machine['name']}",
            "cores": machine["cores"],
            "hosts": [f"{machine['nodes']} nodes"],  # together
            "started": "in simulated time",
        }

    def refusal(self) -> str:
        """The reason why it cannot be simulated, such as too many processes; empty if it can."""
        return self.extent()[0]

    def extent(self) -> tuple[str, int]:
        """The reason why it cannot be simulated, and the steps of a run; 0: unknown."""
        if self.schedule:
            return "", self.schedule.call["steps"]
        return extent_of(
            self.collective,
            self.spec,
            self.procs,
            self.platform,
            self.mapping,
            self.root,
            apart=bool(self.blocks),
        )

    @property
    def parts(self) -> int:
        """Maximum number of parts that simulate() reports."""
        return max(1, len(self.sizes) * len(self.arrivals))

    def simulate(self, on_part: Callable[[], None] | None = None) -> list[list[Simulated]]:
        """By size, then by pattern of arrivals."""
        request = _core.SimulationRequest(
            collective=self.collective,
            spec=self.spec,
            procs=self.procs,
            root=self.root,
            placement=self.mapping,
            sizes=self.sizes,
            arrivals=self.arrivals,
            exact=self.exact,
            critical_path=self.critical_path,
            ordered=self.ordered,
            forecasts=self.forecasts,
            begins=self.begins,
            blocks=self.blocks,
            given=self.schedule.parsed if self.schedule else None,
            **self.noise.arguments(),
        )
        runs = _core.simulate(request, self.platform.parsed, on_part)
        each = len(self.arrivals)
        return [runs[first : first + each] for first in range(0, len(runs), each)]

    @classmethod
    def stop(cls, *, stop: bool) -> None:
        """Makes cases end early, running and future ones, in all threads."""
        _core.stop_simulations(stop)


@cache
def extent_of(
    collective: str, spec: str, procs: int, platform: Platform, mapping: str, root: int, *, apart: bool
) -> tuple[str, int]:
    """The reason why a case cannot be simulated, and its steps; `apart`: with blocks of given sizes. Cached:
    for many processes the estimate takes seconds, and it may vary."""
    request = _core.SimulationRequest(
        collective=collective,
        spec=spec,
        procs=procs,
        root=root,
        placement=mapping,
        blocks=[[]] if apart else [],
    )
    try:
        return _core.simulation_extent(request, platform.parsed)
    except RequestError as error:
        return str(error), 0
    except MemoryError:
        return f"{spec} on {procs} processes needs too much memory; use fewer processes", 0


def require_possible(cases: Sequence[Case]) -> None:
    for case in cases:
        if case.procs > SMALL and (refusal := case.refusal()):
            raise RequestError(refusal)
