# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of simulations: noise and arrival patterns."""

from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.base import parsing
from convene.simulate.cases import Noise
from convene.simulate.platforms import Platform

Pattern = tuple[float, ...]  # of arrivals: seconds, by rank


def parse_noise(text: str, seed: int) -> Noise:
    """Noise: none, exponential:SECONDS, pareto:SECONDS:SHAPE, bernoulli:PROBABILITY:TIME."""
    kind, *values = text.split(":")
    try:
        if text == "none":
            return Noise(seed=seed)  # which also decides other random times
        if kind == "exponential" and len(values) == 1:
            return Noise(kind, parsing.parse_seconds(values[0], "the mean of --noise"), 0.0, seed)
        if kind == "pareto" and len(values) == 2:
            return Noise(
                kind, parsing.parse_seconds(values[0], "the mean of --noise"), float(values[1]), seed
            )
        if kind == "bernoulli" and len(values) == 2:
            return Noise(
                kind, parsing.parse_seconds(values[1], "the delay of --noise"), float(values[0]), seed
            )
    except ValueError:
        pass
    raise RequestError(
        f"unknown noise '{text}'; choose none, exponential:MEAN, pareto:MEAN:SHAPE or "
        "bernoulli:PROBABILITY:TIME"
    )


def round_seconds(platform: Platform, size: float) -> float:
    """τ: the time in which two nodes exchange one block of this size."""
    nodes = "0,1" if platform.nodes > 1 else "0,0"
    request = _core.SimulationRequest(
        collective="allgather",
        spec="ring",
        procs=2,
        sizes=[size],
        placement=nodes,
        arrivals=[[0.0, 0.0]],
    )
    (run,) = _core.simulate(request, platform.parsed)
    return max(run["seconds"], 1e-12)  # a platform may have no costs


def make_arrivals(text: str, procs: int, repetitions: int, seed: int) -> tuple[Pattern, ...]:
    """Patterns of arrival, in seconds for each rank: those of convene bench, or a file's name for its trace.
    Random ones are made `repetitions` times, of a trace there is each line."""
    pattern = f"trace:{text}" if Path(text).is_file() else text
    calls = _core.arrival_delays(pattern, procs, repetitions, seed)
    return tuple(tuple(delay * 1e-9 for delay in delays) for delays in calls)
