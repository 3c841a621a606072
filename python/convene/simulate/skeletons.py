# SPDX-License-Identifier: BSD-3-Clause
"""Skeletons of applications: a loop of computation and collectives, read from a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convene import _core
from convene._core import RequestError
from convene.base import jsons, parsing
from convene.catalogue import collectives

MOST_ITERATIONS = 100_000


@dataclass(frozen=True)
class Compute:
    """Every rank computes for so long, and some for longer."""

    seconds: float
    late: str = "none"  # a pattern of arrival: how much longer each rank computes
    recurring: bool = False  # drawn once, and the same in all iterations


@dataclass(frozen=True)
class Call:
    collective: str
    bytes: int
    root: int = 0
    algorithm: str = ""  # empty: it may be chosen


@dataclass(frozen=True)
class Skeleton:
    name: str
    iterations: int
    loop: tuple[Compute | Call, ...]

    @property
    def calls(self) -> list[Call]:
        return [step for step in self.loop if isinstance(step, Call)]


class Fields:
    """The fields of a JSON object, each read once; unread fields are errors."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise RequestError(f"{where} must be an object, as in {{…}}")
        self.left = dict(value)
        self.where = where

    def take(self, name: str, kinds: type | tuple[type, ...], default: Any = None) -> Any:
        value = self.left.pop(name, default)
        if value is None:
            raise RequestError(f"{self.where}: field {name} is missing")
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise RequestError(f"{self.where}: field {name} cannot be {jsons.described(value)}")
        return value

    def end(self) -> None:
        if self.left:
            raise RequestError(f"{self.where}: unknown field {next(iter(self.left))}")


def read(path: Path) -> Skeleton:
    fields = Fields(jsons.read(path), str(path))
    if fields.take("convene_skeleton", int) != 1:
        raise RequestError(f"{path}: field convene_skeleton must be 1, the version of this format")
    name = fields.take("name", str)
    iterations = fields.take("iterations", int)
    if not 1 <= iterations <= MOST_ITERATIONS:
        raise RequestError(f"{path}: field iterations must be from 1 to {MOST_ITERATIONS}, not {iterations}")
    steps = fields.take("loop", list)
    fields.take("note", str, "")
    fields.end()
    loop = tuple(read_step(Fields(step, f"{path}: loop[{i}]")) for i, step in enumerate(steps))
    skeleton = Skeleton(name, iterations, loop)
    if not skeleton.calls:
        raise RequestError(f"{path}: field loop has no collective")
    return skeleton


def read_step(fields: Fields) -> Compute | Call:
    if "compute" in fields.left:
        compute = Compute(
            parsing.parse_seconds(fields.take("compute", str), f"{fields.where}: compute"),
            fields.take("late", str, "none"),
            fields.take("recurring", bool, False),
        )
        fields.end()
        return compute
    if "collective" not in fields.left:
        raise RequestError(f"{fields.where} is neither a computation (compute) nor a collective")
    collective = fields.take("collective", str)
    if collective not in _core.collectives() or _core.is_neighborhood(collective):
        known = [name for name in _core.collectives() if not _core.is_neighborhood(name)]
        raise RequestError(f"{fields.where}: {_core.no_such('collective', collective, known)}")
    size = fields.take("bytes", (int, str), 0 if collective == "barrier" else None)
    root = fields.take("root", int, 0)
    algorithm = fields.take("algorithm", str, "")
    fields.end()
    try:
        bytes_per_block = _core.size(size) if isinstance(size, str) else size
        spec = _core.spec(collective, algorithm) if algorithm else ""
    except RequestError as error:
        raise RequestError(f"{fields.where}: {error}") from None
    if not 0 <= root < 2**31:
        raise RequestError(f"{fields.where}: root {root} must be 0 or more")
    if bytes_per_block and collective in collectives.WITHOUT_SIZES:
        raise RequestError(f"{fields.where}: {collective} carries no data; leave out bytes")
    if bytes_per_block < 0 or (root and not _core.is_rooted(collective)):
        what = f"bytes cannot be {size}" if bytes_per_block < 0 else f"{collective} has no root"
        raise RequestError(f"{fields.where}: {what}")
    return Call(collective, bytes_per_block, root, spec)
