# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable, Sequence

from convene.base.core_types import (
    Algorithm,
    ArrivalKind,
    CostExpression,
    CostModel,
    Counts,
    Explained,
    GivenCall,
    Place,
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
def arrival_source(collective: str, spec: str) -> str: ...
def parameters(collective: str, spec: str) -> dict[str, str | int]: ...
def uses(text: str) -> list[tuple[str, str]]: ...
def rules(path: str) -> list[Rule]: ...
def wisdom(text: str, origin: str) -> int: ...
def wisdom_files(variable: str) -> list[str]: ...
def prior(collective: str, node_of_rank: list[int], block: int, most: int) -> list[str]: ...
def place(library_version: str) -> Place: ...

class ExplainRequest:
    def __init__(
        self,
        *,
        collective: str,
        procs: int,
        nodes: int = 1,
        bytes: int = 0,  # noqa: A002
        commutative: bool = True,
        order_matters: bool = False,
        reproducible: bool = False,
        blocking: bool = True,
        may_share: int = ...,
        uses: str = "",
        rules: str = "",
        wisdom: str = "",
        mpi: str = "",
    ) -> None: ...

def explain(request: ExplainRequest) -> Explained: ...
def size(text: str) -> int: ...
def size_text(size: int) -> str: ...
def size_range(text: str) -> tuple[int, int]: ...
def no_such(kind: str, wanted: str, known: Sequence[str]) -> str: ...

class GivenPlan:
    def __init__(self, text: str, file: str) -> None: ...
    def facts(self) -> GivenCall: ...

class ScheduleRequest:
    in_place: bool
    arrivals: Sequence[int]
    procs: int
    def __init__(
        self,
        *,
        collective: str,
        spec: str,
        procs: int,
        root: int = 0,
        in_place: bool = False,
        arrivals: Sequence[int] = (),
        machine: str = "",
        placement: str = "",
        graph: str = "",
        commutative: bool = True,
        given: GivenPlan | None = None,
    ) -> None: ...

def check(request: ScheduleRequest) -> Verdict: ...
def statistics(request: ScheduleRequest) -> Counts: ...
def text(request: ScheduleRequest, steps: bool = False, rank: int | None = None) -> str: ...
def json(request: ScheduleRequest) -> str: ...
def goal(request: ScheduleRequest, bytes: int = 1) -> str: ...  # noqa: A002
def svg(
    request: ScheduleRequest, rings: bool = False, rounds: Sequence[int] = ..., width: float = 0
) -> str: ...
def shares_memory(collective: str, spec: str) -> bool: ...
def is_neighborhood(collective: str) -> bool: ...
def has_one_vector(collective: str) -> bool: ...
def has_unequal_blocks(collective: str) -> bool: ...
def models() -> list[str]: ...
def cost_models() -> list[CostModel]: ...

class ModelPlatform:
    def __init__(self, text: str, origin: str) -> None: ...
    def facts(self) -> Platform: ...

def predict(
    request: ScheduleRequest,
    platform: ModelPlatform,
    model: str,
    sizes: Sequence[int],
    packed: bool = False,
) -> list[float]: ...
def hop_bytes(request: ScheduleRequest, sizes: Sequence[int]) -> list[float]: ...
def expression(
    request: ScheduleRequest,
    platform: ModelPlatform | None,
    transport: tuple[str, str],
    latex: bool,
    packed: bool = False,
) -> CostExpression: ...
def terms(request: ScheduleRequest, platform: ModelPlatform | None) -> list[tuple[str, int, int, float]]: ...
def compare(
    first: ScheduleRequest,
    second: ScheduleRequest,
    platform: ModelPlatform | None,
    transport: tuple[str, str],
    farther_is_slower: bool,
) -> str: ...

class SummaRequest:
    def __init__(
        self, columns: Sequence[tuple[int, Sequence[tuple[int, int]]]], nodes: Sequence[int]
    ) -> None: ...

class SharedMemoryRequest:
    def __init__(
        self, *, name: str, procs: int, degree: int = 2, segments: int = 1, segment: int = 0
    ) -> None: ...

def summa(
    request: SummaRequest, block_bytes: int, platform: ModelPlatform | None, latex: bool
) -> SummaCost: ...
def shared_memory(
    request: SharedMemoryRequest, platform: ModelPlatform | None, latex: bool
) -> SharedMemoryCost: ...
def compare_summa(first: SummaRequest, second: SummaRequest, farther_is_slower: bool) -> str: ...

class SimulatedPlatform:
    def __init__(self, text: str, file: str) -> None: ...
    def facts(self) -> SimulatedMachine: ...
    def nodes_of_ranks(self, placement: str, procs: int) -> list[int]: ...
    def simgrid(self, placement: str, procs: int) -> str: ...

class SimulationRequest:
    forecasts: Sequence[Sequence[int]]
    begins: Sequence[Sequence[float]]
    blocks: Sequence[Sequence[float]]
    exits: bool
    def __init__(
        self,
        *,
        collective: str,
        spec: str,
        procs: int,
        root: int = 0,
        placement: str = "sequential",
        sizes: Sequence[float] = (),
        arrivals: Sequence[Sequence[float]] = (),
        exact: bool = False,
        critical_path: bool = False,
        exits: bool = False,
        ordered: bool = False,
        noise: str = "none",
        noise_mean: float = 0.0,
        noise_shape: float = 0.0,
        seed: int = 1,
        stream: int = 0,
        forecasts: Sequence[Sequence[int]] = (),
        begins: Sequence[Sequence[float]] = (),
        blocks: Sequence[Sequence[float]] = (),
        given: GivenPlan | None = None,
    ) -> None: ...

def simulate(
    request: SimulationRequest,
    platform: SimulatedPlatform,
    on_run: Callable[[], None] | None = None,
) -> list[Simulated]: ...
def simulation_extent(request: SimulationRequest, platform: SimulatedPlatform) -> tuple[str, int]: ...
def stop_simulations(stop: bool) -> None: ...
