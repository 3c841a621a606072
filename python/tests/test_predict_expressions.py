# SPDX-License-Identifier: BSD-3-Clause
"""convene predict --expression: expressions of the models, and those of τ-Lop's source."""

import re
from fractions import Fraction
from typing import Any

import pytest

Convene = Any


def expression(convene: Convene, algorithm: str, procs: int, *options: object) -> tuple[str, str]:
    found = convene(
        "predict", "allgather", "-a", algorithm, "-p", procs, "--expression", "--json", *options
    ).json
    return found[0]["stages"], found[0]["sum"]


def test_the_expressions_of_the_thesis(convene: Convene) -> None:
    stages, total = expression(convene, "recursive_doubling", 16, "--nodes", 4)
    assert stages.endswith("4 ∥ T_sr⁰(m) + 4 ∥ T_sr⁰(2m) + 4 ∥ T_sr¹(4m) + 4 ∥ T_sr¹(8m)")
    assert total == "c(m, 4) + 2o⁰(m) + 2o¹(m) + 30L⁰(m, 4) + 12L¹(m, 4)"  # after (5.17)
    stages, _ = expression(convene, "ring", 16, "--nodes", 4)
    assert stages.endswith(
        "15[max{o⁰(m), o¹(m)} + L⁰(m, 4) + max{L⁰(m, 3), L¹(m, 1)} + L⁰(m, 1)]"  # before (5.11)
    )
    _, total = expression(convene, "ring", 16, "--nodes", 4, "--mapping", "cyclic")
    assert total.endswith("15o¹(m) + 30L⁰(m, 4) + 15L¹(m, 4)")  # (6.10)
    _, total = expression(convene, "ring", 8, "--nodes", 1)
    assert total == "c(m, 8) + 7o⁰(m) + 14L⁰(m, 8)"  # (4.14)
    _, total = expression(convene, "neighbor_exchange", 8, "--nodes", 1, "--transport", "segments")
    assert total == "c(m, 8) + 4o⁰(m) + 14kL⁰(S, 8)"  # (4.27)
    _, total = expression(convene, "ring", 8, "--nodes", 1, "--transport", "zero_copy")
    assert total == "c(m, 8) + 7o⁰(m) + 7L⁰(m, 8)"


def test_the_expressions_of_other_collectives(convene: Convene) -> None:
    def stages(collective: str, algorithm: str, *options: object) -> str:
        found = convene("predict", collective, "-a", algorithm, "--expression", "--json", *options).json
        text: str = found[0]["stages"]
        return text

    four = ("-p", 16, "--nodes", 4)
    assert stages("bcast", "binomial", *four) == "2T¹(m) + T⁰(m) + 2 ∥ T⁰(m)"  # (5.7)
    # (4.18), where m is the whole; the own blocks are copied.
    assert "T⁰(4m) + 2 ∥ T⁰(2m)" in stages("scatter", "binomial", "-p", 8, "--nodes", 1)
    assert "7[8 ∥ T_sr⁰(m)]" in stages("alltoall", "pairwise", "-p", 8, "--nodes", 1)  # (4.40)
    assert stages("barrier", "recursive_doubling", "-p", 8, "--nodes", 1) == "3[8 ∥ T_sr⁰(0)]"


def test_an_expression_can_be_latex(convene: Convene) -> None:
    stages, _ = expression(convene, "ring", 4, "--nodes", 1, "--latex")
    assert stages == r"c(m, 4) + 3\,\left[4 \parallel T_{sr}^{0}(m)\right]"


def test_an_expression_for_people(convene: Convene) -> None:
    done = convene("predict", "allgather", "-a", "ring", "-p", 4, "--nodes", 1, "--expression")
    assert done.out == "ring:\n  c(m, 4) + 3[4 ∥ T_sr⁰(m)]\n  = c(m, 4) + 3o⁰(m) + 6L⁰(m, 4)\n"


SEGMENTED = ("--transport", "segments")


@pytest.mark.parametrize(
    ("collective", "algorithm", "options", "sum_"),
    [
        # Without the copies into and out of a temporary buffer, which schedules over slots save.
        ("allgather", "dissemination", (), "c(m, 8) + 3o⁰(m) + 14L⁰(m, 8)"),  # (4.31)
        ("allgather", "dissemination", SEGMENTED, "c(m, 8) + 3o⁰(m) + 14kL⁰(S, 8)"),  # (4.32)
        (
            *("reduce", "binomial", ()),  # (4.45), from the leaves to the root
            "3o⁰(m) + 2L⁰(m, 4) + γ(m, 4) + 2L⁰(m, 2) + γ(m, 2) + 2L⁰(m, 1) + γ(m, 1)",
        ),
        # (4.49) for m that all ranks have together, and m of the plan the part of one rank.
        ("reduce_scatter", "recursive_halving", SEGMENTED, "c(m, 8) + 3o⁰(m) + 14kL⁰(S, 8) + 7γ(m, 8)"),
        # (4.50) without its last step, in which only the body of the pipeline is counted.
        ("gather", "binomial", (), "c(m, 4) + 3o⁰(m) + 2L⁰(m, 4) + 4L⁰(m, 2) + 8L⁰(m, 1)"),
        (
            *("reduce", "butterfly", ()),  # (4.48), (4.51) with short messages
            "6o⁰(m) + 7/4 L⁰(m, 8) + 7/8 γ(m, 8) + 1/4 L⁰(m, 4) + 1/2 L⁰(m, 2) + L⁰(m, 1)",
        ),
        # (4.52) of parts; it prints γ(S, P) where k segments are reduced.
        ("reduce_scatter", "pairwise", SEGMENTED, "7o⁰(m) + 14kL⁰(S, 8) + 7γ(m, 8)"),
    ],
)
def test_reductions_of_chapter_4(
    convene: Convene, collective: str, algorithm: str, options: tuple[str, ...], sum_: str
) -> None:
    found = convene(
        *("predict", collective, "-a", algorithm, "-p", 8, "--nodes", 1, "--expression", "--json", *options)
    ).json
    assert found[0]["sum"] == sum_


def transfers(expression: str) -> dict[int, Fraction]:
    """How much of a segment or of m is transferred, by how many at a time."""
    found: dict[int, Fraction] = {}
    for factor, tau in re.findall(r"([\d/]*) ?L⁰\([mS], (\d+)\)", expression):
        found[int(tau)] = found.get(int(tau), Fraction(0)) + Fraction(factor or 1)
    return found


@pytest.mark.parametrize("procs", range(2, 17))
@pytest.mark.parametrize(("segments", "degree"), [(1, 2), (4, 2), (5, 3), (3, 1)])
def test_the_shared_broadcast_costs_what_figure_4_22_says(
    convene: Convene, procs: int, segments: int, degree: int
) -> None:
    """From the schedule that runs, and from the source's pipeline: the same transfers."""
    spec = f"shared;segments={segments};degree={degree}"
    derived = convene(
        *("predict", "bcast", "--algorithms", spec, "-p", procs, "--nodes", 1, "--expression", "--json")
    ).json[0]["sum"]
    source = convene(
        *("kernel", "shared_bcast", "-p", procs, "--segments", segments),
        "--degree",
        min(degree, procs),
        "--json",
    ).json["total"]
    scaled = {tau: part * segments for tau, part in transfers(derived).items()}
    assert scaled == transfers(source)


@pytest.mark.parametrize("procs", [2, 3, 8])
def test_the_shared_reduction_costs_what_equation_4_55_says(convene: Convene, procs: int) -> None:
    derived = convene(
        *("predict", "reduce", "--algorithms", "shared;segments=4", "-p", procs, "--nodes", 1),
        *("--expression", "--json"),
    ).json[0]["sum"]
    first = "2L⁰(m, 1)" if procs == 2 else f"L⁰(m, {procs - 1}) + L⁰(m, 1)"
    times = "" if procs == 2 else str(procs - 1)
    assert derived == f"{first} + {times}γ(m, 1)"
