# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Sequence

from convene.shapes import (
    Algorithm,
    CostExpression,
    Counts,
    Platform,
    Rule,
    Simulated,
    SimulatedMachine,
    Verdict,
)

version: str

class RequestError(Exception): ...

def collectives() -> list[str]: ...
def is_rooted(collective: str) -> bool: ...
def algorithms(collective: str) -> list[Algorithm]: ...
def samples(collective: str, algorithm: str) -> list[str]: ...
def unmet(collective: str, spec: str, procs: int) -> str: ...
def spec(collective: str, spec: str, options: Sequence[tuple[str, str]] = ...) -> str: ...
def parameters(collective: str, spec: str) -> dict[str, str | int]: ...
def uses(text: str) -> list[tuple[str, str]]: ...
def rules(path: str) -> list[Rule]: ...
def size(text: str) -> int: ...
def size_range(text: str) -> tuple[int, int]: ...
def format_size(bytes: int) -> str: ...  # noqa: A002
def no_such(kind: str, wanted: str, known: Sequence[str]) -> str: ...
def check(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    arrivals: Sequence[int] = ...,
) -> Verdict: ...
def statistics(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    arrivals: Sequence[int] = ...,
) -> Counts: ...
def text(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    steps: bool = False,
    rank: int | None = None,
    arrivals: Sequence[int] = ...,
) -> str: ...
def json(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    arrivals: Sequence[int] = ...,
) -> str: ...
def goal(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    bytes: int = 1,  # noqa: A002
    arrivals: Sequence[int] = ...,
) -> str: ...
def svg(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    rings: bool = False,
    machine: str = "",
    placement: str = "",
    rounds: Sequence[int] = ...,
    arrivals: Sequence[int] = ...,
) -> str: ...
def models() -> list[str]: ...
def platform(text: str, origin: str) -> Platform: ...
def predict(
    collective: str,
    spec: str,
    procs: int,
    root: int,
    machine: str,
    placement: str,
    platform: str,
    origin: str,
    model: str,
    sizes: Sequence[int],
) -> list[float]: ...
def hop_bytes(
    collective: str, spec: str, procs: int, root: int, machine: str, placement: str, sizes: Sequence[int]
) -> list[float]: ...
def expression(
    collective: str,
    spec: str,
    procs: int,
    root: int,
    machine: str,
    placement: str,
    platform: str,
    origin: str,
    memory: str,
    network: str,
    latex: bool,
) -> CostExpression: ...
def compare(
    collective: str,
    first: str,
    second: str,
    procs: int,
    root: int,
    machine: str,
    placement: str,
    platform: str,
    origin: str,
    memory: str,
    network: str,
    farther_is_slower: bool,
) -> str: ...
def simulated_machine(text: str, file: str) -> SimulatedMachine: ...
def simgrid_platform(text: str, file: str, placement: str, procs: int) -> str: ...
def simulate(
    collective: str,
    spec: str,
    procs: int,
    sizes: Sequence[float],
    platform: str,
    file: str,
    placement: str,
    arrivals: Sequence[Sequence[float]],
    exact: bool = False,
    critical_path: bool = False,
    root: int = 0,
    noise: str = "none",
    noise_mean: float = 0.0,
    noise_shape: float = 0.0,
    seed: int = 1,
) -> list[Simulated]: ...
