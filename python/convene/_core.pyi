# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable, Sequence

from convene.base.core_types import (
    Algorithm,
    ArrivalKind,
    CostExpression,
    CostModel,
    Counts,
    Platform,
    Rule,
    SharedMemoryCost,
    Simulated,
    SimulatedMachine,
    SummaCost,
    Verdict,
)

version: str

class RequestError(Exception): ...

def arrival_kinds() -> list[ArrivalKind]: ...
def arrival_pattern(text: str, procs: int) -> str: ...
def arrival_delays(text: str, procs: int, calls: int, seed: int) -> list[list[int]]: ...
def call_statistics(
    arrivals: Sequence[Sequence[float]], exits: Sequence[Sequence[float]]
) -> dict[str, list[float]]: ...
def absorption(balanced_run_time: float, run_time: float, imbalance: float) -> float: ...
def normalised_absorption(balanced_run_time: float, run_time: float, imbalance: float) -> float: ...
def collectives() -> list[str]: ...
def is_rooted(collective: str) -> bool: ...
def is_reduction(collective: str) -> bool: ...
def knows_in_place(collective: str) -> bool: ...
def algorithms(collective: str) -> list[Algorithm]: ...
def samples(collective: str, algorithm: str) -> list[str]: ...
def unmet(
    collective: str,
    spec: str,
    procs: int,
    machine: str = "",
    placement: str = "",
    commutative: bool = True,
) -> str: ...
def spec(collective: str, spec: str, options: Sequence[tuple[str, str]] = ...) -> str: ...
def learns(collective: str, spec: str) -> str: ...
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
    machine: str = "",
    placement: str = "",
    graph: str = "",
    commutative: bool = True,
) -> Verdict: ...
def statistics(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    arrivals: Sequence[int] = ...,
    machine: str = "",
    placement: str = "",
    graph: str = "",
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
    machine: str = "",
    placement: str = "",
    graph: str = "",
) -> str: ...
def json(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    arrivals: Sequence[int] = ...,
    machine: str = "",
    placement: str = "",
    graph: str = "",
) -> str: ...
def goal(
    collective: str,
    spec: str,
    procs: int,
    root: int = 0,
    in_place: bool = False,
    bytes: int = 1,  # noqa: A002
    arrivals: Sequence[int] = ...,
    machine: str = "",
    placement: str = "",
    graph: str = "",
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
    graph: str = "",
) -> str: ...
def shares_memory(collective: str, spec: str) -> bool: ...
def is_neighborhood(collective: str) -> bool: ...
def has_one_vector(collective: str) -> bool: ...
def has_unequal_blocks(collective: str) -> bool: ...
def models() -> list[str]: ...
def cost_models() -> list[CostModel]: ...
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
    packed: bool = False,
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
    packed: bool = False,
) -> CostExpression: ...
def terms(
    collective: str,
    spec: str,
    procs: int,
    root: int,
    machine: str,
    placement: str,
    platform: str,
    origin: str,
) -> list[tuple[str, int, int, float]]: ...
def summa(
    columns: Sequence[tuple[int, Sequence[tuple[int, int]]]],
    nodes: Sequence[int],
    block_bytes: int,
    platform: str,
    origin: str,
    latex: bool,
) -> SummaCost: ...
def shared_memory(
    name: str,
    procs: int,
    degree: int,
    segments: int,
    segment: int,
    platform: str,
    origin: str,
    latex: bool,
) -> SharedMemoryCost: ...
def compare_summa(
    first: Sequence[tuple[int, Sequence[tuple[int, int]]]],
    first_nodes: Sequence[int],
    second: Sequence[tuple[int, Sequence[tuple[int, int]]]],
    second_nodes: Sequence[int],
    farther_is_slower: bool,
) -> str: ...
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
def simulated_nodes(text: str, file: str, placement: str, procs: int) -> list[int]: ...
def simgrid_platform(text: str, file: str, placement: str, procs: int) -> str: ...
def simulation_refusal(
    collective: str,
    spec: str,
    procs: int,
    platform: str,
    file: str,
    placement: str,
    root: int = 0,
    apart: bool = False,
) -> str: ...
def stop_simulations(stop: bool) -> None: ...
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
    stream: int = 0,
    forecasts: Sequence[Sequence[int]] = (),
    begins: Sequence[Sequence[float]] = (),
    blocks: Sequence[Sequence[float]] = (),
    exits: bool = False,
    ordered: bool = False,
    on_play: Callable[[], None] | None = None,
) -> list[Simulated]: ...
