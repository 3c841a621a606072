# SPDX-License-Identifier: BSD-3-Clause
"""Winners under a model: by processes and size, crossover points, best parameters, mappings."""

import itertools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from convene import _core
from convene._core import RequestError
from convene.base import parsing
from convene.catalogue import selection
from convene.model.prediction import Prediction, Setting, best_of, predict


@dataclass(frozen=True)
class Winner:
    spec: str
    cost: float
    runner_up: float | None  # cost of the second best


@dataclass(frozen=True)
class Row:
    """The winners at one number of processes, by size."""

    procs: int
    winners: list[Winner]


T = TypeVar("T")
R = TypeVar("R")


def in_parallel(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """The models let other threads run while they compute."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


def winner_at(found: list[Prediction], i: int) -> Winner:
    ordered = sorted(found, key=lambda one: one.order(i))
    return Winner(ordered[0].spec, ordered[0].costs[i], ordered[1].costs[i] if len(ordered) > 1 else None)


def winner_map(
    settings: list[Setting], choose: Callable[[int], list[str]], model: str, sizes: list[int]
) -> list[Row]:
    """A row for each setting, which differ in the number of processes."""
    jobs = [(setting, spec) for setting in settings for spec in choose(setting.procs)]
    # The large ones first, so that the last thread has little left to do alone.
    jobs.sort(key=lambda job: -job[0].procs)
    found: dict[int, list[Prediction]] = {}
    for (setting, _), predictions in zip(
        jobs, in_parallel(lambda job: predict(job[0], [job[1]], model, sizes), jobs), strict=True
    ):
        found.setdefault(setting.procs, []).extend(predictions)
    return [Row(procs, [winner_at(found[procs], i) for i in range(len(sizes))]) for procs in sorted(found)]


@dataclass(frozen=True)
class Crossover:
    """From `at` bytes on another algorithm is the cheapest."""

    at: int
    before: str
    after: str


PROBES = 15  # sizes in one request; building the plan costs more than a further size


def crossovers(setting: Setting, specs: list[str], model: str, sizes: list[int]) -> list[Crossover]:
    """The sizes at which the winner changes between the given ones, to the byte. A winner that wins only
    between two neighbouring sizes is not seen."""
    best = best_of(predict(setting, specs, model, sizes), sizes)
    found = []
    for i in range(len(sizes) - 1):
        if best[i] != best[i + 1]:
            found += between(setting, specs, model, (sizes[i], best[i]), (sizes[i + 1], best[i + 1]))
    return found


def between(
    setting: Setting, specs: list[str], model: str, left: tuple[int, str], right: tuple[int, str]
) -> list[Crossover]:
    (low, before), (high, after) = left, right
    if before == after:
        return []
    if high - low <= 1:
        return [Crossover(high, before, after)]
    probes = sorted({low + (high - low) * i // (PROBES + 1) for i in range(1, PROBES + 1)} - {low, high})
    best = best_of(predict(setting, specs, model, probes), probes)
    points = [left, *zip(probes, best, strict=True), right]
    found = []
    for a, b in itertools.pairwise(points):
        found += between(setting, specs, model, a, b)
    return found


# Parameters that are a model's own, and not a choice.
GIVEN = ("latency", "overhead", "gap", "byte_gap", "item", "charge")
MOST_SEGMENTS = 1024


def candidates(setting: Setting, algorithm: str) -> dict[str, list[str]]:
    """For each parameter of an algorithm the values that are tried: all words, or powers of two."""
    facts = next(one for one in _core.algorithms(setting.collective) if one["name"] == algorithm)
    values = {}
    for parameter in facts["parameters"]:
        if parameter["name"] in GIVEN:
            continue
        if parameter["words"]:
            values[parameter["name"]] = parameter["words"]
            continue
        least, most = parameter["least"] or 1, parameter["most"] or 1
        most = min(most, MOST_SEGMENTS if parameter["name"] == "segments" else max(setting.procs, least))
        powers = [1 << i for i in range(most.bit_length())]
        values[parameter["name"]] = [str(n) for n in sorted({least, *powers}) if least <= n <= most]
    return values


def tune_at(setting: Setting, algorithm: str, model: str, size: int) -> Prediction:
    """The algorithm with the best parameters: one after the other, each with the best of those before it."""
    chosen: dict[str, str] = {}
    best = predict(setting, [_core.spec(setting.collective, algorithm)], model, [size])[0]
    values = candidates(setting, algorithm)
    # Two passes: the best value of the first parameter may depend on the last.
    for name in [*values, *values] if len(values) > 1 else values:
        specs = {}
        for value in values[name]:
            spec = _core.spec(setting.collective, algorithm, [*{**chosen, name: value}.items()])
            if not _core.unmet(setting.collective, spec, setting.procs):
                specs[spec] = value
        for found in in_parallel(lambda spec: predict(setting, [spec], model, [size])[0], specs):
            if found.costs[0] < best.costs[0] * (1 - 1e-9):
                best = found
                chosen = {**chosen, name: specs[found.spec]}
    return best


def tuned(setting: Setting, specs: list[str], model: str, sizes: list[int]) -> dict[str, list[Prediction]]:
    """By algorithm: the best parameters and their cost, for each size."""
    for spec in specs:
        if "(" in spec:
            raise RequestError(f"--tune does not support compositions such as {spec}; leave it out")
        if ";" in spec:
            raise RequestError(
                f"--tune selects the parameters; give the algorithm without parameters, not {spec}"
            )
    return {name: [tune_at(setting, name, model, size) for size in sizes] for name in specs}


def by_mapping(
    setting: Setting, specs: list[str], model: str, sizes: list[int]
) -> dict[str, list[Prediction]]:
    """Costs in sequential order, in round robin, and in the mapping that was given, if it is another one."""
    mappings = dict.fromkeys(["sequential", "cyclic", setting.mapping])
    return {mapping: predict(replace(setting, mapping=mapping), specs, model, sizes) for mapping in mappings}


def letters(rows: list[Row]) -> dict[str, str]:
    """A letter for each algorithm that wins somewhere: its initial, if free."""
    found: dict[str, str] = {}
    free = [chr(code) for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))]
    for spec in dict.fromkeys(winner.spec for row in rows for winner in row.winners):
        wanted = spec[0].upper()
        letter = wanted if wanted in free else free[0]
        free.remove(letter)
        found[spec] = letter
    return found


def can_run(collective: str, text: str) -> Callable[[int], list[str]]:
    """The algorithms of a list that support this number of processes."""
    names = parsing.split_names(text)

    def choose(procs: int) -> list[str]:
        specs = [_core.spec(collective, name) for name in names if name != "all"]
        if "all" in names:
            return selection.choose_algorithms(collective, procs, text)
        found = [spec for spec in specs if not _core.unmet(collective, spec, procs)]
        if not found:
            raise RequestError(
                f"none of {', '.join(names)} supports {procs} processes; name another algorithm"
            )
        return found

    return choose
