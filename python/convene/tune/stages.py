# SPDX-License-Identifier: BSD-3-Clause
"""Stages of tuning a collective: all candidates are screened, then the best measured by each method.

Methods order algorithms differently, and a choice must not lose by any: calls back to back with a fixed root,
calls back to back with a rotating root (of collectives that have one), and single calls between barriers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil

import numpy as np

from convene import _core
from convene.base.result_types import Json, MeasuredRun
from convene.bench.requests import Request
from convene.catalogue import collectives
from convene.catalogue.selection import NATIVE
from convene.mpi.settings import Setting
from convene.tune import judge
from convene.tune.judge import Choice, Times, Verdict
from convene.tune.kept import Kept
from convene.tune.wisdom_files import Entry

TOGETHER, ROTATING, APART = "together", "rotating", "apart"
SINGLE_CALL = 1e-6  # a batch of one call

SCREENED = 12  # repetitions of the screening
KEPT = 3  # candidates of a size that are measured further

Progress = Callable[[float], None]  # the part of one collective that is done


@dataclass(frozen=True)
class Case:
    """What is tuned: a collective on so many ranks, at these block sizes."""

    collective: str
    procs: int
    nodes: int
    sizes: tuple[int, ...]
    repetitions: int = 60
    seconds: float = 1.0  # for one size by one method
    seed: int = 1

    def methods(self) -> tuple[str, ...]:
        rooted = (ROTATING,) if _core.is_rooted(self.collective) else ()
        return (TOGETHER, *rooted, APART)

    def request(self, contenders: list[str], repetitions: int) -> Request:
        return Request(
            self.collective,
            procs=self.procs,
            sizes=list(self.sizes),
            contenders=contenders,
            repetitions=repetitions,
            least=judge.LEAST_REPETITIONS,
            seconds=self.seconds,
            check="once",
            seed=self.seed,
            cache="rotating",
            type="double" if self.collective in collectives.REDUCTIONS else "byte",
        )


def by_method(template: Request, method: str) -> Request:
    if method == ROTATING:
        return replace(template, rotate_root=True, check="never")
    if method == APART:
        return replace(template, batch=SINGLE_CALL, repetitions=3 * template.repetitions)
    return template


def times_of(run: MeasuredRun) -> dict[int, Times]:
    """Seconds by size and contender."""
    return {
        cell["bytes"]: {row["name"]: np.array(row["seconds"]) for row in cell["contenders"]}
        for cell in run["sizes"]
    }


def finalists(screened: Mapping[int, Times]) -> list[str]:
    """The best few of each size, and what they were measured against."""
    kept: dict[str, None] = {}
    for times in screened.values():
        native = float(np.median(times[NATIVE]))
        ordered = sorted((float(np.median(own)), name) for name, own in times.items() if name != NATIVE)
        hopeful = [name for median, name in ordered if median < 1.1 * native]
        kept |= dict.fromkeys(hopeful[:KEPT])
    return list(kept)


@dataclass(frozen=True)
class Tuned:
    """The result for one case."""

    case: Case
    found: Mapping[int, list[Verdict]]
    choices: list[Choice]
    run: MeasuredRun  # of the screening: where it was measured

    def entries(self) -> list[Entry]:
        return [entry_of(self.case, self.run, choice) for choice in self.choices]


def layout_of(case: Case, run: MeasuredRun) -> Entry:
    """The fields of an entry that say where and of what it is; the others are still empty."""
    environment = run["environment"]
    hosts = environment["host_of_rank"]
    most = max(hosts.count(host) for host in set(hosts))
    place = _core.place(environment["mpi"])
    return {
        "mpi": place["mpi"],
        "cpu": environment.get("processor") or place["cpu"],
        "cores": environment["cores"],
        "network": place["network"],
        "collective": case.collective,
        "procs": case.procs,
        "nodes": len(set(hosts)),
        "ranks_per_node": most,
        "shares_cores": most > environment["cores"],
        "bytes": [0, 0],
        "use": "",
        "ratio": 1.0,
        "upper": 1.0,
        "measured": "",
    }


def entry_of(case: Case, run: MeasuredRun, choice: Choice) -> Entry:
    verdict, environment = choice.verdict, run["environment"]
    evidence: Json = {
        "how": "convene tune",
        "convene": _core.version,
        "size": choice.size,
        "repetitions": case.repetitions,
        "methods": {method: ratio.as_json() for method, ratio in verdict.ratios.items()},
        "machine": {"kernel": environment.get("kernel"), "governor": environment.get("governor")},
    }
    return {
        **layout_of(case, run),
        "bytes": [choice.least, choice.most],
        "use": verdict.spec,
        "ratio": round(verdict.ratio, 4),
        "upper": round(max(verdict.upper, verdict.ratio), 4),
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
        "evidence": evidence,
    }


def nodes_of(setting: Setting, case: Case, kept: Kept) -> int:
    """The number of nodes on which the launcher starts the ranks. Raises RunError or RequestError."""
    short = replace(
        case.request([NATIVE], 1), sizes=[case.sizes[0]], least=1, check="never", batch=SINGLE_CALL
    )
    run = kept.measure(setting, "nodes", short, lambda _at, _of: None)
    return len(set(run["environment"]["host_of_rank"]))


def tune(setting: Setting, case: Case, candidates: list[str], progress: Progress, kept: Kept) -> Tuned:
    """Measures one case. Raises RunError or RequestError."""
    steps = 1 + len(case.methods())

    def part(done: int) -> Callable[[float, float], None]:
        return lambda at, of: progress((done + at / max(of, 1)) / steps)

    few = max(judge.LEAST_REPETITIONS, ceil(SCREENED))

    def measure(name: str, request: Request, at: int) -> MeasuredRun:
        return kept.measure(setting, f"{case.collective}-{name}", request, part(at))

    screening = measure("screening", case.request([NATIVE, *candidates], few), 0)
    best = finalists(times_of(screening))
    if not best:
        return Tuned(case, {size: [] for size in case.sizes}, [], screening)
    template = case.request([NATIVE, *best], case.repetitions)
    measured = {
        method: times_of(measure(method, by_method(template, method), 1 + at))
        for at, method in enumerate(case.methods())
    }
    found = {
        size: judge.verdicts({method: times[size] for method, times in measured.items()}, NATIVE)
        for size in case.sizes
    }
    return Tuned(case, found, judge.choose(found), screening)
