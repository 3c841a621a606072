# SPDX-License-Identifier: BSD-3-Clause
"""Closed expressions of the τ-Lop thesis against what the model derives from schedules.

Both are evaluated on one machine without physical meaning whose L is linear in m, as the source assumes, and
has an unrelated value for each τ; so they agree only if they have the same terms. Local copies cost nothing,
and o does not depend on m: the source merges overheads of different sizes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from typing import TypedDict

from convene import _core

SIZE = 1 << 20
SEGMENT = 8192
K = SIZE // SEGMENT
MOST_TAU = 16
OVERHEADS = (3.0, 11.0)


def transfer(channel: int, tau: int) -> float:
    """Seconds a byte: rises with τ, from τ = 1 at most τ-fold."""
    return (1.0 + 19.0 * channel) * (1 + (0.31 + 0.4 * channel) * (tau - 1) + 0.05 * (tau % 3))


def computation(tau: int) -> float:
    return 0.7 + 0.01 * tau


def mem(size: float, tau: float) -> float:
    """L⁰(m, τ)."""
    return size * transfer(0, int(tau))


def net(size: float, tau: float) -> float:
    """L¹(m, τ)."""
    return size * transfer(1, int(tau))


@dataclass(frozen=True)
class Expression:
    """One printed expression. `size`: bytes of a block, or of a vector, that the source's m stands for."""

    equation: str
    collective: str
    spec: str
    procs: int
    printed: str
    value: Callable[[float, float], float]  # of o⁰ and o¹
    size: int = SIZE
    nodes: int = 1
    mapping: str = "sequential"
    transport: str = "copy_in_copy_out"
    drops_overheads: bool = False
    difference: str = ""  # why the derived cost is another one


def stages(procs: int) -> range:
    return range(int(log2(procs)))


EIGHT = 8
EXPRESSIONS = (
    Expression(
        "(4.2)", "bcast", "binomial", EIGHT, "Σ [o + 2L(m, 2^i)]",
        lambda o, _: sum(o + 2 * mem(SIZE, 2**i) for i in stages(EIGHT)),
    ),
    Expression(
        "(4.3)", "bcast", "binomial", EIGHT, "Σ [o + 2L(S, 2^i) + (k - 1)L(S, 2^{i+1})]",
        lambda o, _: sum(
            o + 2 * mem(SEGMENT, 2**i) + (K - 1) * mem(SEGMENT, 2 ** (i + 1)) for i in stages(EIGHT)
        ),
        transport="segments",
    ),
    Expression(
        "(4.8)", "allgather", "recursive_doubling", EIGHT, "log P o + (P - 1) 2L(m, P)",
        lambda o, _: 3 * o + 7 * 2 * mem(SIZE, 8),
    ),
    Expression(
        "(4.9)", "allgather", "recursive_doubling", EIGHT, "log P o + (P - 1) 2kL(S, P)",
        lambda o, _: 3 * o + 7 * 2 * K * mem(SEGMENT, 8), transport="segments",
    ),
    Expression(
        "(4.14)", "allgather", "ring", EIGHT, "(P - 1) o + (P - 1) 2L(m, P)",
        lambda o, _: 7 * (o + 2 * mem(SIZE, 8)),
    ),
    Expression(
        "(4.15)", "allgather", "ring", EIGHT, "(P - 1) o + 2k(P - 1)L(S, P)",
        lambda o, _: 7 * (o + 2 * K * mem(SEGMENT, 8)), transport="segments",
    ),
    Expression(
        "(4.19)", "scatter", "binomial", EIGHT, "log P o + Σ 2L(m/2^{i+1}, 2^i)",
        lambda o, _: sum(o + 2 * mem(SIZE / 2 ** (i + 1), 2**i) for i in stages(EIGHT)), size=SIZE // EIGHT,
    ),
    Expression(
        "(4.20)", "scatter", "binomial", EIGHT, "log P o + Σ k/2^{i+1} L(S, 2^{i+1})",
        lambda o, _: sum(o + K / 2 ** (i + 1) * mem(SEGMENT, 2 ** (i + 1)) for i in stages(EIGHT)),
        size=SIZE // EIGHT, transport="segments",
        difference="the source takes k for k - 1 and leaves the first and the last segment out, as in (4.4)",
    ),
    Expression(
        "(4.26)", "allgather", "neighbor_exchange", EIGHT, "P/2 o + (P - 1) 2L(m, P)",
        lambda o, _: 4 * o + 7 * 2 * mem(SIZE, 8),
    ),
    Expression(
        "(4.31)", "allgather", "dissemination", EIGHT, "log P o + (P - 1) 2L(m, P), copies left out",
        lambda o, _: 3 * o + 7 * 2 * mem(SIZE, 8),
    ),
    Expression(
        "(4.36)", "allgather", "bruck", EIGHT, "log P o + (P - 1) 2L(m, P), copies left out",
        lambda o, _: 3 * o + 7 * 2 * mem(SIZE, 8),
    ),
    Expression(
        "(4.41)", "alltoall", "pairwise", EIGHT, "(P - 1) o + (P - 1)/P 2L(m, P)",
        lambda o, _: 7 * (o + 2 * mem(SIZE / 8, 8)), size=SIZE // EIGHT,
    ),
    Expression(
        "(4.45)", "reduce", "binomial", EIGHT, "Σ [2^i ∥ T(m) + γ(m, 2^i)]",
        lambda o, _: sum(o + 2 * mem(SIZE, 2**i) + SIZE * computation(2**i) for i in stages(EIGHT)),
    ),
    Expression(
        "(5.7)", "bcast", "binomial", 16, "2T¹(m) + T⁰(m) + 2 ∥ T⁰(m)",
        lambda o, p: 2 * (p + 2 * mem(SIZE, 1) + net(SIZE, 1)) + 2 * o + 2 * mem(SIZE, 1) + 2 * mem(SIZE, 2),
        nodes=4,
    ),
    Expression(
        "after (5.17)", "allgather", "recursive_doubling", 16, "2o⁰ + 2o¹ + 30L⁰(m, 4) + 12L¹(m, 4)",
        lambda o, p: 2 * o + 2 * p + 30 * mem(SIZE, 4) + 12 * net(SIZE, 4), nodes=4,
    ),
    Expression(
        "section 5.2.3", "allgather", "recursive_doubling", 32, "62L⁰(m, 8) + 24L¹(m, 8)",
        lambda _o, _p: 62 * mem(SIZE, 8) + 24 * net(SIZE, 8), nodes=4, drops_overheads=True,
    ),
    Expression(
        "(5.11)", "allgather", "ring", 16, "(P - 1)[L⁰(m, Q) + L¹(m, 1) + L⁰(m, 1)]",
        lambda _o, _p: 15 * (mem(SIZE, 4) + net(SIZE, 1) + mem(SIZE, 1)), nodes=4, drops_overheads=True,
    ),
    Expression(
        "(5.12)", "allgather", "ring", 16, "(P - 1)[2kL⁰(S, Q) + 2L¹(m, 1)]",
        lambda _o, _p: 15 * (2 * K * mem(SEGMENT, 4) + 2 * net(SIZE, 1)),
        nodes=4, transport="segments", drops_overheads=True,
        difference="Q - 1 of a node's messages stay in it, not Q; the source's second line has 2L¹(m, 1) for "
        "2L⁰(m, 1) + L¹(m, 1)",
    ),
    Expression(
        "(6.10)", "allgather", "ring", 16, "(P - 1)[L⁰(m, Q) + L¹(m, Q) + L⁰(m, Q)]",
        lambda _o, _p: 15 * (2 * mem(SIZE, 4) + net(SIZE, 4)),
        nodes=4, mapping="cyclic", drops_overheads=True,
    ),
)  # fmt: skip


class ExpressionRow(TypedDict):
    equation: str
    collective: str
    algorithm: str
    procs: int
    nodes: int
    printed: str
    derived: str  # the sum that the model derives
    ratio: float  # of derived to printed
    difference: str


def platform(transport: str, *, overheads: bool) -> _core.ModelPlatform:
    """The machine on which both sides are evaluated."""

    def channel(number: int, *, last: bool) -> dict[str, object]:
        table = {
            str(tau): {"fixed": 0, "per_byte": transfer(number, tau)} for tau in range(1, 2 * MOST_TAU + 1)
        }
        chosen = transport if number == 0 else "copies"
        parameters: dict[str, object] = {
            "o": OVERHEADS[number] if overheads else 0,
            "L": table,
            "transport": chosen,
        }
        if chosen == "segments":
            parameters["segment"] = SEGMENT
        return {"name": f"c{number}", **({} if last else {"within": "node"}), "taulop": parameters}

    model = {
        "time_unit": "s",
        "computation": {
            str(tau): {"fixed": 0, "per_byte": computation(tau)} for tau in range(1, 2 * MOST_TAU + 1)
        },
        "channels": [channel(0, last=False), channel(1, last=True)],
    }
    return _core.ModelPlatform(json.dumps({"name": "check", "model": model}), "check")


def check(each: Expression) -> ExpressionRow:
    request = _core.ScheduleRequest(
        collective=each.collective,
        spec=each.spec,
        procs=each.procs,
        machine=f"node:{each.nodes} core:{each.procs // each.nodes}",
        placement=each.mapping,
    )
    on = platform(each.transport, overheads=not each.drops_overheads)
    (derived,) = _core.predict(request, on, "taulop", [each.size])
    overheads = (0.0, 0.0) if each.drops_overheads else OVERHEADS
    return {
        "equation": each.equation,
        "collective": each.collective,
        "algorithm": each.spec,
        "procs": each.procs,
        "nodes": each.nodes,
        "printed": each.printed,
        "derived": _core.expression(request, on, (each.transport, "copies"), False)["sum"],
        "ratio": derived / each.value(*overheads),
        "difference": each.difference,
    }


# Figure 4.22: transfers of a segment at a time in the stages of the broadcast in shared memory, P = 8, g = 2,
# k = 4; the eleventh is empty.
FIGURE_4_22 = (1, 2, 4, 7, 4, 7, 4, 7, 3, 5)


def check_shared_memory() -> list[ExpressionRow]:
    on = platform("copy_in_copy_out", overheads=True)
    bcast = _core.SharedMemoryRequest(name="shared_bcast", procs=8, degree=2, segments=4, segment=SEGMENT)
    reduce = _core.SharedMemoryRequest(name="shared_reduce", procs=8, segments=K, segment=SEGMENT)
    rows: list[ExpressionRow] = []
    for equation, collective, request, printed, value in (
        (
            "figure 4.22", "bcast", bcast, "the sum of its stages: L(S, 1) + L(S, 2) + … + L(S, 7) + …",
            sum(mem(SEGMENT, tau) for tau in FIGURE_4_22),
        ),
        (
            "(4.55)", "reduce", reduce, "k[L(S, P - 1) + L(S, 1) + (P - 1)γ(S, 1)]",
            K * (mem(SEGMENT, 7) + mem(SEGMENT, 1) + 7 * SEGMENT * computation(1)),
        ),
    ):  # fmt: skip
        found = _core.shared_memory(request, on, False)
        rows.append(
            {
                "equation": equation, "collective": collective, "algorithm": "shared", "procs": 8, "nodes": 1,
                "printed": printed, "derived": found["total"], "ratio": found["seconds"] / value,
                "difference": "",
            }
        )  # fmt: skip
    return rows


def run() -> list[ExpressionRow]:
    return [*map(check, EXPRESSIONS), *check_shared_memory()]
