# SPDX-License-Identifier: BSD-3-Clause
"""The grid of a verification: numbers of processes, roots and mappings of each sample."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product

from convene import _core
from convene._core import RequestError
from convene.base import parsing
from convene.catalogue import algorithms
from convene.catalogue.schedule_files import ScheduleFile
from convene.verify import mappings
from convene.verify.mappings import NOWHERE, Mapping
from convene.verify.samples import Sample, samples_of, unmet

MOST_PROCS = 1024  # beyond, one simulation takes minutes
ALL_WITH_ALL = 4  # up to this number of processes, every sample is combined with every root
ALL_NUMBERS = 16  # up to this number, every composition is checked for every number of processes
THIRD = 3


@cache
def knows_in_place(collective: str) -> bool:
    return _core.knows_in_place(collective)


@dataclass(frozen=True)
class Case:
    """One call to be checked, also with a number of random forecasts of arrivals."""

    collective: str
    spec: str
    procs: int
    root: int
    forecasts: int = 0
    mapping: Mapping = NOWHERE
    commutative: bool = True
    schedule: ScheduleFile | None = None  # in place of the spec, which is then its file

    @property
    def algorithm(self) -> str:
        if self.schedule:
            return self.spec
        return self.spec.partition(";")[0].partition("(")[0]

    @property
    def checks_in_place(self) -> bool:
        return self.schedule is None and knows_in_place(self.collective)


def roots_of(collective: str, procs: int, wanted: str) -> Iterable[int]:
    if not _core.is_rooted(collective):
        return [0]
    if wanted == "all":
        return range(procs)
    return [root for root in parsing.parse_numbers(wanted, "--roots", 0, MOST_PROCS) if root < procs]


@dataclass(frozen=True)
class Grid:
    """The cases that each algorithm is checked with."""

    procs: list[int]
    roots: str = "all"
    forecasts: int = 0
    mapping: Mapping = NOWHERE
    segments: list[int] = field(default_factory=list)
    commutative: bool = True
    thorough: bool = False

    def is_left_out(self, sample: "Sample", procs: int, root: int) -> bool:
        """True if another sample covers this case."""
        if self.thorough or procs <= ALL_WITH_ALL or sample.of == 1:
            return False
        turn = sample.turn
        if sample.rooted:
            turn, others = divmod(sample.turn + root, sample.of)
            if others != 0:
                return True
        return sample.composed and procs > ALL_NUMBERS and (turn + procs) % THIRD != 0

    def mappings_of(self, sample: "Sample", procs: int, root: int) -> list[Mapping]:
        """Where the ranks are: on all representative mappings; where samples take turns, on one of them. In a
        neighborhood: all graphs, with each of the mappings where the algorithm looks at nodes."""
        if _core.is_neighborhood(sample.collective):
            return self.graphs_of(sample, procs)
        if not sample.composed:
            return [self.mapping if _core.shares_memory(sample.collective, sample.spec) else NOWHERE]
        if self.mapping != NOWHERE:
            return [self.mapping]
        found = mappings.representative_mappings(procs)
        if self.thorough or procs <= ALL_WITH_ALL or (sample.of == 1 and not sample.rooted):
            return found
        fit = [
            each for each in found if not unmet(sample.collective, sample.spec, procs, each, self.commutative)
        ]
        # Divided: what is left out above goes by the rest of such a sum.
        turn = sample.turn // THIRD + procs // THIRD + root // sample.of
        return [(fit or found)[turn % len(fit or found)]]

    def graphs_of(self, sample: "Sample", procs: int) -> list[Mapping]:
        given, places = self.mapping, [self.mapping]
        depends_on_nodes = algorithms.depends_on_nodes(sample.collective, sample.spec)
        if depends_on_nodes and not given.machine and not given.placement:
            places += mappings.representative_mappings(procs)
        graphs = [given.graph] if given.graph else mappings.representative_graphs(procs)
        found = [replace(place, graph=graph) for place in places for graph in graphs]
        if self.thorough or procs <= ALL_NUMBERS or given.graph:
            return found
        return found[(sample.turn + procs) % THIRD :: THIRD]


def make_cases(collectives: list[str], algorithm: str | None, grid: Grid) -> list[Case]:
    cases = []
    why_not: str | None = None  # of the first call that cannot be
    has_roots = False
    for collective in collectives:
        samples = samples_of(collective, algorithm, grid.segments)
        for sample, number in product(samples, grid.procs):
            tried = grid.forecasts if sample.is_aware else 0
            for root in roots_of(collective, number, grid.roots):
                has_roots = True
                if grid.is_left_out(sample, number, root):
                    continue
                for where in grid.mappings_of(sample, number, root):
                    why = unmet(collective, sample.spec, number, where, grid.commutative)
                    why_not = why_not or why
                    if not why:
                        cases.append(
                            Case(collective, sample.spec, number, root, tried, where, grid.commutative)
                        )
    if not cases and has_roots:
        ending = "" if "operator" in (why_not or "") else ", and --procs names no such number"
        raise RequestError(f"nothing to verify: {algorithm} {why_not}{ending}")
    if not cases:
        raise RequestError(
            f"nothing to verify: every root of --roots {grid.roots} is out of range for --procs"
        )
    return cases
