# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps over algorithms and sizes on all cores, and their results."""

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock

from convene.base.core_types import Simulated
from convene.base.result_types import Cell, Contender, Json, Simulation
from convene.simulate.cases import Case, require_possible
from convene.simulate.journal import Journal


class Course:
    """Progress of a sweep, over all threads."""

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


def as_result(cases: Sequence[Case], runs: Sequence[list[list[Simulated]]], options: Json) -> Simulation:
    """In the shape of a measurement: by size, then by algorithm."""
    first = cases[0]
    sizes: list[Cell] = []
    for i, size in enumerate(first.sizes):
        contenders = [contender(case.spec, results[i]) for case, results in zip(cases, runs, strict=True)]
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
    if "waiting" in first:  # SMPI does not say
        value["waiting"] = [run["waiting"] for run in runs]
        value["messages"] = first["messages"]
        value["sent"] = first["bytes"]
        value["channels"] = first["channels"]
    if first.get("critical_path"):
        value["critical_path"] = first["critical_path"]
    return value
