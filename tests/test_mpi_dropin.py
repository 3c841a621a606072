# SPDX-License-Identifier: BSD-3-Clause
"""The drop-in library in programs of all kinds, in the wrong ones too, and what it says to wrong requests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance import mpi4py_suite
from tests.conformance.stacks import BUILD, ROOT, Done, Stack, all_stacks

USE = {"CONVENE_USE": "allgather=sparbit,allgatherv=ring"}


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def library(name: str) -> Path:
    path = BUILD / "lib" / f"libconvene-preload-{name}.so"
    if not path.exists():
        pytest.skip(f"{path.name} is not built here")
    return path


def sentences(done: Done) -> list[str]:
    """What Convene said."""
    return [line for line in done.output.splitlines() if "convene: " in line]


def check_interposed(done: Done) -> None:
    assert done.status == 0, done.output
    assert done.algorithms("allgather") == {"sparbit"}
    assert done.algorithms("allgatherv") == {"ring"}
    assert sentences(done) == []


# ------------------------------------------------------------------------------------------ kinds of programs


@pytest.mark.parametrize("name", list(all_stacks()))
def test_c_program(name: str) -> None:
    stack = present(name)
    check_interposed(stack.run(2, [stack.program("allgather_plain")], USE))


@pytest.mark.parametrize("name", ["openmpi4", "mpich4", "mpich5-abi"])
def test_all_symbols_bound_at_once(name: str) -> None:
    stack = present(name)
    check_interposed(stack.run(2, [stack.program("allgather_plain")], {**USE, "LD_BIND_NOW": "1"}))


@pytest.mark.parametrize("name", ["openmpi4", "mpich4", "mpich5-abi"])
def test_program_with_a_static_cpp_runtime(name: str, tmp_path: Path) -> None:
    stack, program = present(name), tmp_path / "program"
    source = ROOT / "tests" / "mpi" / "allgather_conformance.cpp"
    stack.compile(source, program, "-static-libstdc++", "-static-libgcc")
    check_interposed(stack.run(2, [program, "--quick", "--only", "counts", "--only", "irregular"], USE))


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich5"])
def test_python_program(name: str) -> None:
    stack = present(name)
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    code = "from mpi4py import MPI; w = MPI.COMM_WORLD; assert w.allgather(w.rank) == list(range(w.size))"
    chosen, _ = mpi4py_suite.LIBRARIES[name]
    variables = {"MPI4PY_LIBMPI": chosen} if chosen else {}
    done = stack.run(2, [sys.executable, "-c", code], {**USE, **variables})
    check_interposed(done)


@pytest.mark.parametrize("name", ["openmpi", "mpich", "abi"])
@pytest.mark.parametrize(
    "command",
    [["bash", "-c", "echo as ever"], [sys.executable, "-c", "print('as ever')"], ["env", "echo", "as ever"]],
)
def test_program_without_mpi(name: str, command: list[str]) -> None:
    environment = {**os.environ, **USE, "LD_PRELOAD": str(library(name)), "LD_BIND_NOW": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("as ever\n", "")


# -------------------------------------------------------------------------------------------- the wrong stack


@pytest.mark.sampled(default=4, all=13)
@pytest.mark.parametrize("name", list(all_stacks()))
@pytest.mark.parametrize("wrong", ["openmpi", "mpich", "abi"])
def test_the_wrong_library_steps_aside(name: str, wrong: str) -> None:
    stack = present(name)
    if stack.library == wrong:
        pytest.skip("the right library")
    done = stack.run(2, [stack.program("allgather_plain")], USE, preload=library(wrong))
    assert done.status == 0, done.output
    assert "all right" in done.output
    (sentence,) = sentences(done)
    assert f"is for {wrong}, but the program uses" in sentence
    assert "all calls are native" in sentence
    assert done.profiles == []


@pytest.mark.parametrize(
    ("name", "wrong"), [("openmpi4", "mpich"), ("openmpi4", "abi"), ("mpich4", "openmpi")]
)
def test_the_wrong_library_leaves_the_api_to_libconvene(name: str, wrong: str) -> None:
    """Also where the handles of its MPI are narrower than those of the program's."""
    stack = present(name)
    done = stack.run(2, [stack.program("c_api")], {}, preload=library(wrong))
    assert done.status == 0, done.output
    assert any("all calls are native" in sentence for sentence in sentences(done))


@pytest.mark.parametrize(("name", "wrong"), [("openmpi4", "mpich"), ("mpich4", "openmpi"), ("mpich4", "abi")])
@pytest.mark.parametrize("binding", ["mpifh", "usempi", "f08"])
def test_the_wrong_library_steps_aside_in_fortran(name: str, wrong: str, binding: str) -> None:
    stack = present(name)
    done = stack.run(2, [stack.program(f"allgather_{binding}")], USE, preload=library(wrong))
    assert done.status == 0, done.output
    assert "0 failures" in done.output
    assert len(sentences(done)) <= 1  # none where the program's calls don't come through it


# --------------------------------------------------------------------------------------------- wrong requests

BROKEN_RULES = {
    "no such file": (None, ["rules.json"]),
    "not JSON": ('{"convene_rules": 1,\n"rules": [{,}]}', ["rules.json:2:"]),
    "another file": ('{"rules": []}', ["rules.json:1:", "convene_rules"]),
    "unknown algorithm": (
        '{"convene_rules": 1, "rules": [\n{"collective": "allgather", "use": "sparbitt"}]}',
        ["rules.json:2:", "use", "'sparbitt'", "sparbit"],
    ),
}

WRONG_REQUESTS = {
    "unknown algorithm": ({"CONVENE_USE": "allgather=sparbitt"}, ["'sparbitt'", "sparbit"]),
    "unknown collective": ({"CONVENE_USE": "allgathr=ring"}, ["'allgathr'", "allgather"]),
    "unknown parameter": ({"CONVENE_USE": "allgather=bruck;port=2"}, ["port", "ports"]),
    "parameter out of range": ({"CONVENE_USE": "allgather=bruck;ports=0"}, ["ports", "0"]),
    "unmet requirement": (
        {"CONVENE_USE": "allgather=recursive_doubling"},
        ["recursive_doubling", "power of two", "3"],
    ),
    "log": ({"CONVENE_LOG": "loud"}, ["CONVENE_LOG='loud'", "quiet, info"]),
    "execution": ({"CONVENE_EXECUTE": "fast"}, ["CONVENE_EXECUTE='fast'", "compiled", "dynamic"]),
    "wait": ({"CONVENE_SHARED_WAIT": "nap"}, ["CONVENE_SHARED_WAIT='nap'", "automatic, poll, sleep"]),
    "size": ({"CONVENE_CACHE": "big"}, ["CONVENE_CACHE", "big"]),
    "shared size": ({"CONVENE_SHARED_MEMORY": "-1"}, ["CONVENE_SHARED_MEMORY", "-1"]),
    "seed": ({"CONVENE_SHUFFLE": "often"}, ["CONVENE_SHUFFLE='often'", "whole number"]),
    "core": ({"CONVENE_PROGRESS_CORE": "1KiB"}, ["CONVENE_PROGRESS_CORE='1KiB'", "whole number"]),
    "agreement": ({"CONVENE_CHECK": "all"}, ["CONVENE_CHECK='all'", "agreement"]),
    "communicators": ({"CONVENE_COMMUNICATORS": "-1"}, ["CONVENE_COMMUNICATORS", "-1"]),
}


def check_refused(done: Done, parts: list[str]) -> None:
    assert done.status == 2, done.output
    said = sentences(done)
    assert len(said) == 1, done.output
    for part in parts:
        assert part in said[0]


@pytest.mark.parametrize("request_", WRONG_REQUESTS)
def test_wrong_request(request_: str) -> None:
    stack = present("openmpi4")
    variables, parts = WRONG_REQUESTS[request_]
    check_refused(stack.run(3, [stack.program("allgather_plain")], variables), parts)


@pytest.mark.parametrize("rules", BROKEN_RULES)
def test_broken_rules(rules: str, tmp_path: Path) -> None:
    stack = present("openmpi4")
    text, parts = BROKEN_RULES[rules]
    if text is not None:
        (tmp_path / "rules.json").write_text(text)
    variables = {"CONVENE_RULES": str(tmp_path / "rules.json")}
    check_refused(stack.run(2, [stack.program("allgather_plain")], variables), parts)


@pytest.mark.parametrize("name", [name for name in all_stacks() if name != "openmpi4"])
@pytest.mark.parametrize("request_", ["unknown algorithm", "unmet requirement", "log"])
def test_wrong_request_on_every_stack(name: str, request_: str) -> None:
    stack = present(name)
    variables, parts = WRONG_REQUESTS[request_]
    check_refused(stack.run(3, [stack.program("allgather_plain")], variables), parts)


def test_a_profile_that_cannot_be_written(tmp_path: Path) -> None:
    """The program has done its work: a sentence, and its own status."""
    stack = present("openmpi4")
    missing = str(tmp_path / "missing")
    done = stack.run(2, [stack.program("allgather_plain")], {**USE, "CONVENE_PROFILE_DIR": missing})
    assert done.status == 0, done.output
    assert "all right" in done.output
    assert [line for line in sentences(done) if re.search("cannot write the profile", line)]


def test_the_former_name_of_the_profile_directory(tmp_path: Path) -> None:
    stack = present("openmpi4")
    done = stack.run(
        2,
        [stack.program("allgather_plain")],
        {**USE, "CONVENE_PROFILE_DIR": "", "CONVENE_ACCOUNT_DIR": str(tmp_path)},
    )
    assert done.status == 0, done.output
    assert done.output.count("CONVENE_ACCOUNT_DIR is now CONVENE_PROFILE_DIR") == 1
    assert len(list(tmp_path.glob("profile-*.json"))) == 2


def test_a_profile_on_a_full_disk(full_disk: Path) -> None:
    stack = present("openmpi4")
    variables = {**USE, "CONVENE_PROFILE_DIR": str(full_disk)}
    done = stack.run(2, [stack.program("allgather_plain")], variables)
    assert done.status == 0, done.output
    assert "all right" in done.output
    said = [line for line in sentences(done) if "cannot write the profile" in line]
    assert said, done.output
    assert all(line.endswith(": No space left on device") for line in said)
    assert [path.name for path in full_disk.iterdir()] == ["filler"]


@pytest.mark.parametrize(("first", "others"), [("ring", "sparbit"), ("native", "ring"), ("ring", "native")])
def test_ranks_that_disagree_are_found(first: str, others: str) -> None:
    """In the mode that looks for it: one rank was given another choice than the others."""
    stack = present("openmpi4")
    program = stack.program("allgather_plain")
    choose = f"if [ $OMPI_COMM_WORLD_RANK = 0 ]; then use={first}; else use={others}; fi"
    script = f"{choose}; CONVENE_USE=allgather=$use exec {program}"
    done = stack.run(3, ["sh", "-c", script], {"CONVENE_CHECK": "agreement"}, timeout=60)
    assert done.status == 2, done.output
    said = sentences(done)
    assert said, done.output
    assert all("disagree" in line and "allgather" in line for line in said)
    assert any(first in line or others in line for line in said)
