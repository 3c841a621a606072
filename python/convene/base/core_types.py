# SPDX-License-Identifier: BSD-3-Clause
"""Types of the dictionaries that convene._core returns."""

from typing import NotRequired, TypedDict


class Where(TypedDict):
    """Where the ranks of a plan are, and who is whose neighbour, as functions of convene._core take it; all
    empty where unknown."""

    machine: str
    placement: str
    graph: NotRequired[str]


class Parameter(TypedDict):
    name: str
    summary: str
    default: str | int
    words: list[str]
    is_list: bool  # one number, or several as in 4x4x8
    least: int | None
    most: int | None


class PartSlot(TypedDict):
    """One of the algorithms that a composed one runs."""

    name: str
    summary: str
    collective: str
    default: str


class Algorithm(TypedDict):
    name: str
    summary: str
    source: str
    collectives: list[str]
    requirement: str
    symmetry: str
    arrival_source: str
    rounds: str
    native: bool
    commutative_only: bool
    prefers_nodes: bool  # places its messages by the nodes of ranks where they are known
    needs_whole_graph: bool  # of a neighborhood collective: looks at the neighbours of other ranks, too
    shares_memory: bool  # its ranks must be on one node
    parameters: list[Parameter]
    parts: list[PartSlot]  # none of an algorithm that is not composed of others


class ArrivalKind(TypedDict):
    name: str
    parameters: str
    summary: str


class Counts(TypedDict):
    rounds: int
    messages: int
    blocks: int
    most_messages_sent: int
    most_blocks_sent: int
    most_messages_received: int
    most_blocks_received: int
    most_blocks_combined: int
    scratch: int
    steps: int
    edges: int
    memory: int


class Verdict(Counts):
    ok: bool
    why: str


class GivenCall(TypedDict):
    """The call of a schedule from a file, and why it does not perform it."""

    collective: str
    algorithm: str
    procs: int
    root: int
    steps: int
    why: str


class Rule(TypedDict):
    line: int
    collective: str
    use: str


class ExplainedStep(TypedDict):
    """A choice that was made beforehand: by --use, a rule, or an entry of wisdom."""

    source: str  # use, rule, wisdom
    name: str  # rule 2 of rules.json
    path: str
    line: int
    collective: str
    use: str
    obstacle: str  # why it does not decide; empty if it does


class Explained(TypedDict):
    algorithm: str
    reason: str  # as the table of convene run has it
    bytes: int  # of a block, as rules and wisdom see it
    has_bytes: bool  # all ranks know the bytes of such a call
    ranks_per_node: int
    steps: list[ExplainedStep]  # in the order of precedence
    refusals: list[str]


class Place(TypedDict):
    """Where evidence was gathered: it counts where all of it is the same."""

    mpi: str
    cpu: str
    cores: int
    network: str


class Platform(TypedDict):
    name: str
    description: str
    source: str
    machine: str
    assumed: list[str]
    models: list[str]
    channels: list[str]


class CostModel(TypedDict):
    """A cost model's descriptor."""

    name: str
    summary: str
    source: str
    message: str  # the cost of a message of m bytes, in the notation of the source
    processor: str
    port: str
    parameters: str  # the field of a platform's channels
    packing: bool


class CostExpression(TypedDict):
    stages: str
    sum: str


class SharedMemoryCost(TypedDict):
    total: str
    seconds: NotRequired[float]  # with a platform


class SummaCost(TypedDict):
    rows: str
    columns: str
    total: str
    seconds: NotRequired[float]  # with a platform
    by_iteration: NotRequired[float]  # the same, before A1 adds up the messages of all iterations


class SummaRun(TypedDict):
    """SUMMA's communication, simulated."""

    seconds: float
    messages: int
    bytes: float


class SimulationFields(TypedDict, total=False):
    """Further fields of a simulation request."""

    exits: bool
    forecasts: list[list[int]]  # by pattern
    begins: list[list[float]]  # by pattern
    blocks: list[list[float]]  # by size


class SimulatedMachine(TypedDict):
    name: str
    machine: str
    nodes: int
    cores: int
    send: float  # seconds a message
    recv: float
    copy: float  # seconds a byte
    eager: float  # bytes; infinite where all messages are


class CriticalStep(TypedDict):
    rank: int
    step: int
    kind: str
    round: int
    ready: float
    finished: float
    waited: bool


class Simulated(TypedDict):
    """One simulated call. SMPI reports only when ranks complete. Times are in seconds."""

    seconds: float  # from the first arrival to the last exit
    mean: float  # of all ranks, from arrival to exit
    waiting: NotRequired[float]  # of it, without work for the processor
    seconds_bound: NotRequired[float]  # no algorithm's `seconds` is less
    mean_bound: NotRequired[float]  # no algorithm's `mean` is less
    messages: NotRequired[int]
    bytes: NotRequired[float]
    channels: NotRequired[
        dict[str, float]
    ]  # by kind: the share of the time in which the busiest of them carried anything
    critical_path: NotRequired[list[CriticalStep]]
    exits: NotRequired[list[float]]  # by rank
