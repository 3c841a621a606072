# SPDX-License-Identifier: BSD-3-Clause
"""Platform measurement: the MPI program that observes (tools/measure.cpp), and the platform file."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from convene import __version__, _core
from convene._core import RequestError
from convene.model import curves, fit_checks, fit_taulop, fits, measured_series
from convene.model.fit_types import Fitted
from convene.model.measured_series import Curve, Observations, Sample
from convene.model.platform_types import (
    Interval,
    Measured,
    MeasuredPlatform,
    Model,
    Observed,
    Packing,
    Protocol,
)
from convene.mpi import launchers, processes, settings

DIGITS = 6
MICRO = 1e6


@dataclass(frozen=True)
class Effort:
    """How long and how closely."""

    rounds: int = 40
    seconds: float = 120.0  # for the rounds, after the search for sizes
    points: int = 36  # sizes of a channel
    largest: int = 4 << 20


QUICK = Effort(rounds=15, seconds=15.0, points=22, largest=1 << 20)


@dataclass(frozen=True)
class Request:
    procs: int
    effort: Effort = Effort()
    out_of_cache: int = 0  # bytes that are gone through before one is used again
    collectives: tuple[
        str, ...
    ] = ()  # such as bcast=binomial, where they can run on `collective_procs` ranks
    collective_procs: tuple[int, ...] = ()
    collective_sizes: tuple[int, ...] = ()
    only_collectives: bool = False
    fits_collectives: bool = False  # τ-Lop's L by least squares over them, too

    def arguments(self) -> list[str]:
        words = [
            *("--rounds", str(self.effort.rounds)),
            *("--seconds", str(self.effort.seconds)),
            *("--most-points", str(self.effort.points)),
            *("--largest", str(self.effort.largest)),
            *("--largest-burst", str(self.effort.largest)),
        ]
        if self.out_of_cache:
            words += ["--out-of-cache", str(self.out_of_cache)]
        if self.collectives:
            words += ["--collectives", *self.placed()]
            words += ["--collective-sizes", ",".join(map(str, self.collective_sizes))]
        return [*words, "--only-collectives"] if self.only_collectives else words

    def placed(self) -> list[str]:
        """As the program wants them: 2:bcast=binomial."""
        pairs = (use.split("=", 1) for use in self.collectives)
        specs = [(collective, _core.spec(collective, algorithm)) for collective, algorithm in pairs]
        return [
            f"{procs}:{collective}={spec}"
            for collective, spec in specs
            for procs in self.collective_procs
            if not _core.unmet(collective, spec, procs)
        ]


def find_setting(command: str | None, stack: str | None) -> settings.Setting:
    return settings.find_setting(command, stack, "measure")


def run(
    setting: settings.Setting, request: Request, on_progress: Callable[[float, float], None] | None = None
) -> Observed:
    """Every observation, and how they were taken. Raises RequestError and bench.RunError."""
    place = launchers.common_place(setting.launcher.path.name)
    with tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as folder:
        output = Path(folder) / "measure.json"
        started = processes.start(setting, request.procs, request.arguments(), output, on_progress)
        if not output.stat().st_size:
            raise processes.RunError(
                f"the MPI program did not write {output}, and its launcher has not forwarded the result; "
                "start rank 0 on this machine, or share that directory"
            )
        result: Observed = json.loads(output.read_text(encoding="utf-8"))
    result["command"], result["variables"] = started.command, started.variables
    return result


def rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def micro(seconds: float) -> float:
    return rounded(seconds * MICRO)


# Parameters that are not times.
PLAIN = ("f", "S")


def as_json(value: Any, name: str = "") -> Any:
    """Parameters as a platform file has them: times in µs."""
    if isinstance(value, Curve):
        return [[int(size), micro(time)] for size, time in zip(value.bytes, value.times, strict=True)]
    if isinstance(value, dict):
        return {str(key): as_json(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_json(inner) for inner in value]
    if isinstance(value, str) or name in PLAIN:
        return value
    return micro(value)


def interval_json(path: str, low: Any, high: Any) -> Interval:
    scale = 1.0 if path.rpartition(".")[2] in PLAIN else MICRO
    ends = [[rounded(number * scale) for number in side] for side in (low, high)]
    if len(ends[0]) == 1:
        return {"low": ends[0][0], "high": ends[1][0]}
    return {"low": ends[0], "high": ends[1]}


def machine_of(nodes: list[int]) -> str:
    """As many nodes as were found, each as large as the largest."""
    counts = np.bincount(nodes)
    return f"node:{len(counts)} core:{int(counts.max())}"


CHOICES = (
    "lognp: in memory, each of the two transfers takes half of a message's time; in the network, the "
    "network transfer takes the time that a further message adds to a burst, and each end half of the rest",
    "taulop: messages in memory are two transfers of half the time each, however the MPI moves them",
    "decreasing times (of a larger message, or with more concurrent ones) are replaced by the closest "
    "non-decreasing curve",
)

NO_MEMORY = (
    "no two ranks shared a node: messages within one are taken for messages of the network, and of these "
    "nothing is known of copies at their ends"
)


def protocols(observations: Observations) -> dict[str, Protocol]:
    return {
        channel: {
            "sender_waits_from": observations.protocols.get(channel),
            "kinks": [
                {
                    "operation": kink.operation,
                    "between": [int(kink.below), int(kink.above)],
                    "times": [micro(kink.time_below), micro(kink.time_above)],
                }
                for kink in fit_checks.kinks(observations, channel)
            ],
        }
        for channel in observations.channels()
    }


def terms_of(raw: Observed) -> dict[tuple[str, int], list[measured_series.Term]]:
    """What the collectives that ran within a node consist of under τ-Lop."""
    found = {}
    for one in raw["series"]:
        if one["operation"] == "collective" and len(set(raw["nodes"][: one["tau"]])) == 1:
            collective, _, algorithm = one["algorithm"].partition("=")
            call = _core.ScheduleRequest(
                collective=collective,
                spec=algorithm,
                procs=one["tau"],
                machine=f"node:1 core:{one['tau']}",
                placement="sequential",
            )
            found[one["algorithm"], one["tau"]] = _core.terms(call, None)
    return found


def platform(raw: Observed, request: Request, name: str, resamples: int = fits.RESAMPLES) -> MeasuredPlatform:
    """The platform file of a run. Raises RunError if no channel was measured."""
    observations = measured_series.Observations.read(raw, terms_of(raw) if request.fits_collectives else None)
    channels = observations.channels()
    sample = measured_series.whole(observations)
    model = fits.fit(sample)
    assumed = list(CHOICES)
    if channels == ["network"]:
        # A platform's last channel is a network only behind that of a node.
        taulop = fit_taulop.fit_taulop_memory(sample, "network")
        model["channels"] = {
            "memory": {**model["channels"]["network"], "taulop": taulop},
            **model["channels"],
        }
        assumed.append(NO_MEMORY)
    environment = raw["environment"]
    found: MeasuredPlatform = {
        "name": name,
        "description": f"{environment['processor']}, {environment['mpi']}",
        "source": f"measured by convene {__version__} on {environment['started']}, {raw['procs']} ranks on "
        f"{len(environment['hosts'])} host(s), {observations.rounds} observations of each point",
        "machine": machine_of(raw["nodes"]),
        "assumed": assumed,
        "model": model_json(model),
        "measured": measured_json(raw, request, sample, resamples),
    }
    check(found)
    return found


def model_json(model: Fitted) -> Model:
    last = list(model["channels"])[-1]
    listed = [
        {"name": channel, **({} if channel == last else {"within": "node"}), **as_json(found)}
        for channel, found in model["channels"].items()
    ]
    packing: Packing = {"packing": as_json(model["packing"])} if "packing" in model else {}
    return {
        "time_unit": "us",
        "copy": as_json(model["copy"]),
        **packing,
        "computation": as_json(model["computation"]),
        "channels": listed,
    }


def measured_json(raw: Observed, request: Request, sample: Sample, resamples: int) -> Measured:
    observations = sample.observations
    channels = observations.channels()
    checks = {channel: fit_checks.cross_checks(sample, channel) for channel in channels}
    intervals = fits.intervals(observations, resamples=resamples)
    return {
        "environment": raw["environment"],
        "command": raw["command"],
        "ranks": raw["procs"],
        "cache": "out of cache" if request.out_of_cache else "in cache",
        "reduction": "MPI_SUM of MPI_DOUBLE",
        "fitted_to": sorted({algorithm for algorithm, _ in observations.terms}),
        "protocols": protocols(observations),
        "cross_checks": {
            channel: {what: micro(value) for what, value in found.items()}
            for channel, found in checks.items()
        },
        "issue_cost": {channel: micro(curves.issue_cost(sample, channel)) for channel in channels},
        "intervals": {path: interval_json(path, low, high) for path, (low, high) in intervals.items()},
    }


def check(found: MeasuredPlatform) -> None:
    """What is written must be what `convene predict` reads."""
    try:
        _core.ModelPlatform(json.dumps(found), "the measured platform")
    except RequestError as error:
        raise processes.RunError(f"the fitted parameters are inconsistent: {error}; measure again") from None
