# SPDX-License-Identifier: BSD-3-Clause
"""Simulated studies: an experiment of a publication, compared with the published results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rich.table import Table

from convene import _core

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Simulate = Callable[[list[Any]], list[Any]]
Result = Mapping[str, object]  # written as JSON
ResultT = TypeVar("ResultT", bound=Result)


@dataclass(frozen=True)
class Study(Generic[ResultT]):
    """`run` simulates everything and returns the result that is written as JSON; `tables` and `sentences` say
    what is in it, the latter what agrees with the source and what does not; `draw` makes its figure."""

    name: str
    summary: str
    run: Callable[[Simulate], ResultT]
    tables: Callable[[ResultT], list[Table]]
    sentences: Callable[[ResultT], list[str]]
    draw: Callable[[ResultT], "Figure"]
    run_on: Callable[[Simulate, int], ResultT] | None = (
        None  # on another number of ranks, if the study does not fix it
    )


def gain(own: float, others: float) -> float:
    """1 - t/t2, as the Sparbit work defines it."""
    return 1 - own / others


def is_able(collective: str, spec: str, procs: int) -> bool:
    return not _core.unmet(collective, spec, procs)


def balanced(procs: int) -> tuple[tuple[float, ...], ...]:
    return ((0.0,) * procs,)


def percent(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{round(value, digits) + 0.0:.{digits}f} %"  # no "-0"
