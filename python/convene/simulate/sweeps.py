# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps over algorithms and sizes on all cores, and their results."""

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Lock

from convene.base.core_types import Simulated
from convene.base.result_types import Cell, Contender, Json, Simulation
from convene.simulate import estimates
from convene.simulate.cases import Case, require_possible
from convene.simulate.journal import Journal

OnProgress = Callable[[int, int, float], None]


class SweepProgress:
    """Progress of a sweep, over all threads. The work of a part is its number of steps, if these are many."""

    def __init__(self, on_progress: OnProgress | None, cases: Sequence[Case]) -> None:
        self.on_progress, self.done, self.work = on_progress, 0, 0
        is_known = on_progress and estimates.may_be_long(cases)
        self.steps = [max(1, case.extent()[1]) if is_known else 1 for case in cases]
        self.total = sum(case.parts for case in cases)
        self.all_work = sum(case.parts * steps for case, steps in zip(cases, self.steps, strict=True))
        self.lock = Lock()

    def advance(self, case: int, parts: int) -> None:
        with self.lock:
            self.done += parts
            self.work += parts * self.steps[case]
            if self.on_progress and parts:
                self.on_progress(self.done, self.total, self.work / self.all_work)


def simulate_all(
    cases: Sequence[Case],
    on_progress: OnProgress | None = None,
    journal: Journal | None = None,
) -> list[list[list[Simulated]]]:
    """Simulates all cases that the journal lacks, on all cores, the largest first. Raises the error of an
    invalid case before the start. `on_progress` receives the number of complete parts, their total, and the
    part of the work that this is, from any thread."""
    require_possible(cases)
    known = journal.known if journal else {}
    results = [known.get(Journal.key(case)) if known else None for case in cases]
    if journal:
        journal.begin()
    left = [i for i, result in enumerate(results) if result is None]
    progress = SweepProgress(on_progress, cases)
    for i, result in enumerate(results):
        if result is not None:
            progress.advance(i, cases[i].parts)

    def simulate(i: int) -> list[list[Simulated]]:
        reported = 0

        def report() -> None:
            nonlocal reported
            reported += 1
            progress.advance(i, 1)

        runs = cases[i].simulate(report)
        progress.advance(i, cases[i].parts - reported)
        return runs

    kinds = {type(case) for case in cases}
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        running = {pool.submit(simulate, i): i for i in sorted(left, key=lambda i: -cases[i].procs)}
        pending = set(running)
        while pending:
            # The timeout bounds a delay: a signal just before a wait is handled when the wait ends.
            done, pending = wait(pending, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
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


def as_result(cases: Sequence[Case], runs: Sequence[list[list[Simulated]]], options: Json) -> Simulation:
    """In the shape of a measurement: by size, then by algorithm."""
    first = cases[0]
    sizes: list[Cell] = []
    for i, size in enumerate(first.sizes):
        contenders = [contender(case.name, results[i]) for case, results in zip(cases, runs, strict=True)]
        sizes.append(
            {"bytes": size, "arrivals": str(options["arrivals"]), "calls": 1, "contenders": contenders}
        )
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


def joined(results: Sequence[Simulation]) -> Json:
    """Sweeps over several numbers of ranks, as the runs of one measurement."""
    first = results[0]
    return {"format": 2, "collective": first["collective"], "metric": first["metric"], "runs": list(results)}


def contender(name: str, runs: list[Simulated]) -> Contender:
    """One algorithm at one size: a number for each pattern of arrivals."""
    value: Contender = {
        "name": name,
        "seconds": [run["seconds"] for run in runs],
        "mean": [run["mean"] for run in runs],
    }
    first = runs[0]
    if "waiting" in first:  # not reported by SMPI
        value["waiting"] = [run["waiting"] for run in runs]
        value["messages"] = first["messages"]
        value["sent"] = first["bytes"]
        value["channels"] = first["channels"]
    if "seconds_bound" in first:  # not in journals of earlier versions
        value["lower_bound"] = [run["seconds_bound"] for run in runs]
        value["mean_lower_bound"] = [run["mean_bound"] for run in runs]
    if first.get("critical_path"):
        value["critical_path"] = first["critical_path"]
    return value
