# SPDX-License-Identifier: BSD-3-Clause
"""Estimates of the time that simulations take, before they begin."""

import os
import time
from collections.abc import Sequence

from convene.base.text import duration_text
from convene.simulate.cases import Case

WORTH_SAYING = 20.0  # seconds
FEW_STEPS = 20_000_000  # so many take less, and are not estimated
SAMPLE_PROCS = 64
RISE = 2.0  # a step of many ranks takes longer than one of few, whose data fits into the cache


def sample_of(case: Case) -> Case:
    """A small case on the same platform, to measure the time of a step."""
    procs = min(case.procs, SAMPLE_PROCS)
    arrivals = ((0.0,) * procs,)
    return Case(
        *("allgather", "ring", procs, (1024,), case.platform, "sequential", arrivals),
        exact=case.exact,
        noise=case.noise,
        ordered=case.ordered,
    )


def seconds_per_step(case: Case) -> float:
    sample = sample_of(case)
    steps = sample.procs * (2 * sample.procs - 1)
    start = time.perf_counter()
    sample.simulate()
    return (time.perf_counter() - start) / steps


def may_be_long(cases: Sequence[Case]) -> bool:
    """Whether an estimate is worth its time: no algorithm has much more than P² steps."""
    return sum(case.parts * case.procs**2 for case in cases) > FEW_STEPS


def seconds(cases: Sequence[Case]) -> float:
    """Of all cases on all cores; 0 where nothing is known, or one of them is refused."""
    extents = [case.extent() for case in cases]
    steps = [each * case.parts for case, (_, each) in zip(cases, extents, strict=True)]
    if not any(steps) or any(refusal for refusal, _ in extents):
        return 0.0
    each = RISE * seconds_per_step(cases[0])
    return each * max(max(steps), sum(steps) / min(len(cases), os.cpu_count() or 1))


def sentence(cases: Sequence[Case]) -> str:
    """What is about to be simulated, and for how long; empty where it is quick."""
    if not cases or not may_be_long(cases):
        return ""
    expected = seconds(cases)
    if expected < WORTH_SAYING:
        return ""
    parts = sum(case.parts for case in cases)
    algorithms = f"{len(cases)} algorithms" if len(cases) > 1 else cases[0].spec
    return f"simulating {algorithms} in {parts} runs takes about {duration_text(expected)}"
