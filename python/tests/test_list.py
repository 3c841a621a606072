# SPDX-License-Identifier: BSD-3-Clause
"""convene list, and the command line as a whole."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from convene import __version__, _core

Convene = Any


def test_names_every_algorithm(convene: Convene) -> None:
    done = convene("list")
    assert done.status == 0
    for collective in _core.collectives():
        for algorithm in _core.algorithms(collective):
            assert algorithm["name"] in done.out
            assert all(parameter["name"] in done.out for parameter in algorithm["parameters"])


def test_output_has_its_natural_width(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without blanks at the ends of lines; folded only where a width is known."""
    lines = convene("list").out.splitlines()
    assert not [line for line in lines if line != line.rstrip()]
    assert max(map(len, lines)) > 120
    monkeypatch.setenv("COLUMNS", "80")
    folded = convene("list").out
    assert max(map(len, folded.splitlines())) <= 80
    assert folded.split() == "\n".join(lines).split()


def test_json_has_every_field(convene: Convene) -> None:
    algorithms = convene("list", "allgather", "--json").json
    assert all(each.pop("learns") == each["arrival_source"] for each in algorithms)  # the former name
    assert algorithms == _core.algorithms("allgather")
    sparbit = next(algorithm for algorithm in algorithms if algorithm["name"] == "sparbit")
    assert sparbit["collectives"] == ["allgather", "allgatherv"]
    assert "packed" in next(p for p in sparbit["parameters"] if p["name"] == "send")["words"]


def test_names_may_repeat_between_collectives(convene: Convene) -> None:
    both = [each for each in convene("list", "--json").json if each["name"] == "binomial"]
    served = [name for each in both for name in each["collectives"]]
    assert {"gather", "scatter", "bcast", "reduce", "scan"} <= set(served)
    assert len(both) > 3
    assert len(served) == len(set(served))
    text = convene("list").out
    assert text.index("Algorithms of gather and gatherv") < text.index("Algorithms of bcast")
    assert text.count("The native implementation") == 1


def test_one_collective_has_its_own_alone(convene: Convene) -> None:
    out = convene("list", "bcast").out
    assert "scatter_allgather" in out
    assert "native" in out
    assert "segmented_ring" not in out
    assert "\nhier(" in convene("list", "alltoall").out
    assert "\nhier(" not in convene("list", "alltoallv").out


def test_an_empty_name_is_no_collective(convene: Convene) -> None:
    """As of a shell variable that is not set."""
    assert "there is no collective ''" in convene("list", "").complaint


def test_unknown_collective(convene: Convene) -> None:
    assert convene("list", "allgahter").complaint.startswith(
        "there is no collective 'allgahter'; did you mean allgather"
    )


@pytest.mark.parametrize("command", ["run", "list", "show", "verify"])
def test_help_has_examples(convene: Convene, command: str) -> None:
    done = convene(command, "--help")
    assert done.status == 0
    assert f"convene {command}" in done.out.split("Examples", 1)[1]


def test_version(convene: Convene) -> None:
    assert convene("--version").out == f"convene {__version__}\n"


def test_unknown_command_and_option(convene: Convene) -> None:
    assert "lsit" in convene("lsit").complaint
    assert "--jsno" in convene("list", "--jsno").complaint


def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    package = str(Path(_core.__file__).parent.parent)
    return subprocess.run(
        [sys.executable, "-m", "convene", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": package, **environment},
    )


def test_exit_status_reaches_the_shell() -> None:
    assert call("list").returncode == 0
    assert call("list", "nothing").returncode == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("convene show allgat", "allgatherv"),
        ("convene show allgather spar", "sparbit"),
        ("convene show allgather sparbit --send pa", "packed"),
        ("convene verify allgather bru", "bruck"),
        ("convene show gather bin", "binomial"),
        ("convene predict bcast -a bino", "binomial"),
        ("convene bench run bcast --algorithms chain,bino", "chain,binomial"),
        ("convene simulate sweep bcast --arrivals unif", "uniform:"),
        ("convene simulate bcast --arrivals unif", "uniform:"),
        ("convene simulate st", "study"),
        ("convene simulate study mini", "mini-benchmark"),
        ("convene bench study spa", "sparbit"),
        ("convene run --use bcast=bin", "bcast=binomial"),
        ("convene run --use allgather=spa", "allgather=sparbit"),
        ("convene run --use allgather=ring,allgatherv=spa", "allgather=ring,allgatherv=sparbit"),
    ],
)
def test_completion(words: str, expected: str) -> None:
    position = str(len(words.split()) - 1)
    lines = words.replace(" ", "\n")
    done = call(_CONVENE_COMPLETE="complete_bash", COMP_WORDS=lines, COMP_CWORD=position)
    assert expected in done.stdout.split()


def test_completion_minds_the_collective() -> None:
    words = "\n".join(["convene", "predict", "bcast", "-a", "r"])
    done = call(_CONVENE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD="4")
    assert done.stdout.split() == ["remap"]


def test_the_command_starts_without_what_takes_long_to_load() -> None:
    program = (
        "import sys, convene.cli.app; print(*sorted({'scipy', 'matplotlib', 'pandas'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
