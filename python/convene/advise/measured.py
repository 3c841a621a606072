# SPDX-License-Identifier: BSD-3-Clause
"""What-if measurements: candidates against native, at a call site's sizes, communicator and arrivals.

The library's model ranks the candidates; the best few are screened, and the best of these are measured by
each method. The judgement is that of tuning (convene.tune.judge). Reductions need more evidence, because
another algorithm may round differently.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from convene import _core
from convene.advise import sites
from convene.advise.sites import CallSite
from convene.base.result_types import MeasuredRun
from convene.bench import metrics, program
from convene.bench.requests import TRACE, Request
from convene.catalogue import collectives
from convene.catalogue.selection import NATIVE
from convene.mpi.settings import Setting
from convene.tune import judge, stages
from convene.tune.judge import Times, Verdict

MODELLED = 6  # candidates that the model leaves over
SCREENED = 10  # repetitions of the screening
REPETITIONS = 60
START = 1.0  # seconds to start a measurement, typically
LEAST_TIME = 0.2  # seconds for a measurement, without its start
MOST_OF_REDUCTIONS = 0.90  # upper end of the ratio of reductions
AS_ARRIVED = "arrivals"  # the method of measuring with the program's arrivals
IMBALANCED = 0.2  # of a call's communication: a larger imbalance is measured with its arrivals
ITEMS = ((8, "double"), (4, "float"))  # bytes and types that reductions are measured on

Progress = Callable[[float], None]


@dataclass(frozen=True)
class WhatIf:
    """Measurements for one call site."""

    candidates: list[str]  # by the model, best first
    verdicts: dict[int, list[Verdict]]  # by size
    winner: str = ""  # empty: native stays
    ratio: float = 1.0  # of the winner, the worst of all methods and sizes
    upper: float = 1.0
    saved: float = 0.0  # seconds per call: the size that saves the most, the method that saves the least
    layout_differs: bool = False  # the launcher placed the ranks otherwise than the communicator's


def candidates(site: CallSite) -> list[str]:
    """Algorithms that are worth measuring, by the model, best first."""
    signature = site.signature
    found: list[str] = []
    for size in site.sizes:
        found += _core.prior(signature.collective, list(signature.layout), size, MODELLED)
    return list(dict.fromkeys(found))[: MODELLED + 2]


def item_of(site: CallSite) -> str:
    """The type that fits all sizes."""
    if site.signature.collective not in collectives.REDUCTIONS:
        return "byte"
    return next((name for item, name in ITEMS if all(size % item == 0 for size in site.sizes)), "byte")


def methods(site: CallSite) -> list[str]:
    """Methods that are like the calls of this site. Calls back to back are like balanced ones only."""
    if site.imbalance <= IMBALANCED * site.per_call:
        return [stages.ROTATING if len(site.roots) > 1 else stages.TOGETHER, stages.APART]
    late = [stages.APART, *([AS_ARRIVED] if site.signature.procs <= sites.MOST_RANKS else [])]
    return late if site.imbalance > site.per_call else [stages.TOGETHER, *late]


def template(site: CallSite, contenders: list[str], repetitions: int, seconds: float) -> Request:
    return Request(
        site.signature.collective,
        procs=site.signature.procs,
        sizes=site.sizes,
        contenders=contenders,
        repetitions=repetitions,
        least=judge.LEAST_REPETITIONS,
        seconds=seconds,
        check="once",
        type=item_of(site),
        root=min(site.roots, default=0) if _core.is_rooted(site.signature.collective) else 0,
    )


def by_method(request: Request, method: str, site: CallSite) -> Request:
    if method != AS_ARRIVED:
        return stages.by_method(request, method)
    traces = {AS_ARRIVED: sites.trace_of(site.lateness)}
    return replace(request, arrivals=(TRACE + AS_ARRIVED,), traces=traces, check="never")


def times_of(run: MeasuredRun, method: str) -> dict[int, Times]:
    """Seconds by size and contender. With late ranks: from the last arrival to the last exit."""
    if method != AS_ARRIVED:
        return stages.times_of(run)
    metric = metrics.find_metric("last_exit")
    return {
        cell["bytes"]: {row["name"]: metric.value(*metrics.times(row)) for row in cell["contenders"]}
        for cell in run["sizes"]
    }


def has_layout(run: MeasuredRun, site: CallSite) -> bool:
    """True if the ranks of a measurement were on as many nodes as those of the program's communicator."""
    hosts = Counter(run["environment"]["host_of_rank"])
    return (len(hosts), max(hosts.values())) == (site.signature.nodes, site.signature.ranks_per_node)


def least_seconds(site: CallSite) -> float:
    """The time that a short measurement takes, if candidates take half of native's time in the mean."""
    contenders, steps = 1 + MODELLED / 2, 1 + len(methods(site))
    late = min(site.imbalance, sites.LATEST) if AS_ARRIVED in methods(site) else 0.0
    per_call = site.per_call + late
    return steps * (START + judge.LEAST_REPETITIONS * contenders * len(site.sizes) * per_call)


def measure(setting: Setting, site: CallSite, seconds: float, progress: Progress) -> WhatIf:
    """Measures one call site within about this time. Raises RunError or RequestError."""
    found = candidates(site)
    if not found:
        return WhatIf([], {})
    deadline = time.monotonic() + seconds
    steps = 1 + len(methods(site))

    def share(done: int) -> float:
        """Seconds for one size of the next measurement."""
        left = (deadline - time.monotonic()) / (steps - done) - START
        return max(left, LEAST_TIME) / len(site.sizes)

    screening = program.measure(setting, template(site, [NATIVE, *found], SCREENED, share(0)))
    progress(1 / steps)
    if not has_layout(screening, site):
        return WhatIf(found, {}, layout_differs=True)
    kept = stages.finalists(stages.times_of(screening))
    measured: dict[str, dict[int, Times]] = {}
    for done, method in enumerate(methods(site) if kept else [], 1):
        request = template(site, [NATIVE, *kept], REPETITIONS, share(done))
        run = program.measure(setting, by_method(request, method, site))
        measured[method] = times_of(run, method)
        progress((1 + done) / steps)
    verdicts = {
        size: judge.verdicts({method: times[size] for method, times in measured.items()}, NATIVE)
        for size in site.sizes
        if kept
    }
    return decide(site, found, verdicts, measured)


def saved_per_call(spec: str, measured: Mapping[str, Mapping[int, Times]]) -> float:
    """Seconds that a call saves at the size that saves the most, by the method that saves the least."""
    return min(
        max(float(np.median(times[NATIVE]) - np.median(times[spec])) for times in at.values())
        for at in measured.values()
    )


def decide(
    site: CallSite,
    found: list[str],
    verdicts: dict[int, list[Verdict]],
    measured: Mapping[str, Mapping[int, Times]],
) -> WhatIf:
    """The winner must win at all sizes of the site, by each method. `measured`: by method and size."""
    most = MOST_OF_REDUCTIONS if site.signature.collective in collectives.REDUCTIONS else 1.0
    wins = [
        {each.spec: each for each in at if each.wins() and each.upper <= most} for at in verdicts.values()
    ]
    common = set.intersection(*map(set, wins)) if wins else set[str]()
    if not common:
        return WhatIf(found, verdicts)
    # Ranked by the first half of the repetitions, as in tuning.
    winner = min(sorted(common), key=lambda spec: max(at[spec].rank() for at in wins))
    chosen = [at[winner] for at in wins]
    return WhatIf(
        found,
        verdicts,
        winner,
        ratio=float(np.max([each.ratio for each in chosen])),
        upper=float(np.max([each.upper for each in chosen])),
        saved=saved_per_call(winner, measured),
    )
