# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a verification, on all cores, and their results."""

import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from convene import _core
from convene.base import parsing, progress
from convene.base.core_types import Verdict
from convene.base.result_types import Json
from convene.verify.grid import Case
from convene.verify.mappings import NOWHERE


@dataclass
class Result:
    case: Case
    verdict: Verdict

    @property
    def sentence(self) -> str:
        """What is wrong, and with which call."""
        case = self.case
        return (
            f"{case.collective} {case.spec}, {case.procs} processes, root {case.root}"
            f"{case.mapping.in_words if case.mapping != NOWHERE else ''}"
            f"{'' if case.commutative else ', an operator that does not commute'}: {self.verdict['why']}"
        )


def random_forecast(procs: int, number: int) -> list[int]:
    """Forecast number n of a fixed series: sparse or dense, every fourth with ranks that never arrive."""
    source = random.Random(f"{procs} {number}")
    spread = source.randrange(3 * procs + 1)
    arrivals = [source.randint(0, spread) for _ in range(procs)]
    if number % 4 == 3:
        for rank in source.sample(range(procs), source.randint(1, procs)):
            arrivals[rank] = parsing.MOST_ROUNDS
    return arrivals


def check(case: Case) -> Result:
    """Checks a call without and with MPI_IN_PLACE, and with its forecasts; the counts are those without."""
    request = _core.ScheduleRequest(
        collective=case.collective,
        spec=case.spec,
        procs=case.procs,
        root=case.root,
        commutative=case.commutative,
        given=case.schedule.parsed if case.schedule else None,
        **case.mapping.as_arguments,
    )
    verdict = _core.check(request)
    if verdict["ok"] and case.checks_in_place:
        request.in_place = True
        in_place = _core.check(request)
        verdict["ok"] = in_place["ok"]
        verdict["why"] = f"with MPI_IN_PLACE: {in_place['why']}" if in_place["why"] else ""
    for number in range(case.forecasts if verdict["ok"] else 0):
        arrivals = random_forecast(case.procs, number)
        request.in_place, request.arrivals = number % 2 == 1, arrivals
        forecast = _core.check(request)
        if not forecast["ok"]:
            verdict["ok"] = False
            verdict["why"] = f"with --arrivals {','.join(map(str, arrivals))}: {forecast['why']}"
            break
    return Result(case, verdict)


def check_all(cases: list[Case]) -> Iterator[Result]:
    """Checks the cases on all cores, the largest first, and shows progress."""
    ordered = sorted(cases, key=lambda case: -case.procs)
    with progress.shown("verifying", "schedules") as advance, ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, result in enumerate(pool.map(check, ordered), start=1):
            advance(done, len(cases))
            yield result


def as_json(result: Result) -> Json:
    case, verdict = result.case, result.verdict
    value = {
        "collective": case.collective,
        "algorithm": case.algorithm,
        "procs": case.procs,
        "root": case.root,
        "parameters": {} if case.schedule else _core.parameters(case.collective, case.spec),
        "ok": verdict["ok"],
        **{name: verdict[name] for name in ("rounds", "messages", "blocks")},
        **{
            name: verdict[name]
            for name in ("most_messages_sent", "most_blocks_sent", "scratch", "steps", "memory")
        },
    }
    if case.mapping != NOWHERE:
        value["mapping"] = case.mapping.as_arguments
    if case.forecasts:
        value["forecasts"] = case.forecasts
    if not case.commutative:
        value["commutative"] = False
    return value if verdict["ok"] else {**value, "why": verdict["why"]}
