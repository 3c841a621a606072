# SPDX-License-Identifier: BSD-3-Clause
"""Samples of algorithms: specifications with representative parameters."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import product

from convene import _core
from convene.catalogue.algorithms import arrival_source
from convene.verify.mappings import Mapping

MOST_SEGMENTS = 65536


def specs_of(collective: str, algorithm: str | None, segments: list[int]) -> list[str]:
    """The algorithm as it was given, or with all samples; without one, all that have schedules. Those with a
    parameter of that name take these numbers of segments, if there are any."""
    if algorithm is None:
        names = [known["name"] for known in _core.algorithms(collective) if not known["native"]]
        return [spec for name in names for spec in specs_of(collective, name, segments)]
    given = _core.spec(collective, algorithm)
    if ";" in algorithm or "(" in algorithm:
        return [given]
    return with_segments(collective, _core.samples(collective, given), segments)


def takes_segments(collective: str, algorithm: str | None) -> bool:
    """Whether --segments sets something, for any algorithm where none is named: not where parameters were
    given, which stay as they are."""
    return any(
        parameter["name"] == "segments"
        for known in _core.algorithms(collective)
        if algorithm in (None, known["name"])
        for parameter in known["parameters"]
    )


def with_segments(collective: str, samples: list[str], segments: list[int]) -> list[str]:
    """The samples with these numbers of segments instead of their own, where these are allowed."""
    name = samples[0].partition(";")[0].partition("(")[0]
    known = next(known for known in _core.algorithms(collective) if known["name"] == name)
    bounds = next((each for each in known["parameters"] if each["name"] == "segments"), None)
    if not segments or bounds is None:
        return samples
    least, most = bounds["least"] or 1, bounds["most"] or MOST_SEGMENTS
    allowed = [number for number in segments if least <= number <= most]
    others = [re.sub(r";segments=[0-9]+", "", sample) for sample in samples]
    return [
        _core.spec(collective, sample, [("segments", str(number))])
        for sample, number in product(dict.fromkeys(others), allowed)
    ]


@dataclass(frozen=True)
class Sample:
    """An algorithm with one sample of its parameters: the one of number `turn` of so many."""

    collective: str
    spec: str
    turn: int
    of: int
    rooted: bool
    composed: bool
    is_aware: bool  # of arrivals


def samples_of(collective: str, algorithm: str | None, segments: list[int]) -> list[Sample]:
    known = {known["name"]: known for known in _core.algorithms(collective)}
    specs = specs_of(collective, algorithm, segments)
    names = [spec.partition(";")[0].partition("(")[0] for spec in specs]
    of, rooted = Counter(names), _core.is_rooted(collective)
    return [
        Sample(
            collective,
            spec,
            turn=turn,
            of=of[name],
            rooted=rooted,
            composed=bool(known[name]["parts"]),
            is_aware=arrival_source(collective, spec) != "none",
        )
        for turn, (spec, name) in enumerate(zip(specs, names, strict=True))
    ]


@cache
def unmet(collective: str, spec: str, procs: int, mapping: Mapping, commutative: bool) -> str:
    return _core.unmet(collective, spec, procs, mapping.machine, mapping.placement, commutative)
