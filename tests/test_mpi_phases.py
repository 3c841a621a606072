# SPDX-License-Identifier: BSD-3-Clause
"""Declared phases and progress in the background, under a running MPI."""

import sys
from pathlib import Path

import pytest
from convene import _core
from convene.base import core_types

from tests.conformance import mpi4py_suite
from tests.conformance.stacks import BUILD, ROOT, Done, Stack, all_stacks

EVERY_BUILD = ["openmpi4", "mpich4", "mpich5-abi"]  # one stack for each library
WORDS = ["usual", "wrong", "skipped", "interleaved", "misused", "open"]
IN_BACKGROUND = {"CONVENE_PROGRESS_THREAD": "1"}


def present(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def program_of(stack: Stack) -> Path:
    """A program of the C API: where CMake does not build it, the library has to be named."""
    if stack.is_known_to_cmake:
        return stack.program("phases")
    built, source = BUILD / "tests" / stack.folder / "phases", ROOT / "tests" / "mpi" / "phases.c"
    library = stack.preload.with_name(f"libconvene-{stack.library}.so")
    if not built.exists() or built.stat().st_mtime < max(source.stat().st_mtime, library.stat().st_mtime):
        stack.compile(
            source, built, "-I", str(ROOT / "include"), str(library), f"-Wl,-rpath,{library.parent}"
        )
    return built


def run(stack: Stack, procs: int, *words: str, background: bool = False) -> Done:
    # With the drop-in library there are profiles; the C API is the program's own.
    program: list[str | Path] = [program_of(stack), *words, *(["threads"] if background else [])]
    return stack.run(procs, program, IN_BACKGROUND if background else {}, timeout=120)


@pytest.mark.sampled(default=4, all=13)
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("name", EVERY_BUILD)
def test_phases(name: str, word: str, background: bool) -> None:
    stack = present(name)
    done = run(stack, 3 if stack.spins else 5, word, background=background)
    assert done.status == 0, done.output
    assert f"phases {word}: done" in done.output


@pytest.mark.sampled(all=2)
@pytest.mark.parametrize("name", ["openmpi5", "mpich5", "impi"])
def test_phases_on_other_stacks(name: str) -> None:
    stack = present(name)
    for word in WORDS:
        done = run(stack, 4, word, background=True)
        assert done.status == 0, f"{word}: {done.output}"
        assert f"phases {word}: done" in done.output


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_phases_from_fortran(name: str) -> None:
    stack = present(name)
    for procs in (1, 3, 4):
        done = stack.run(procs, [stack.program("phases_fortran")], IN_BACKGROUND, timeout=120)
        assert done.status == 0, done.output
        assert "phases from Fortran: done" in done.output


@pytest.mark.sampled(default=1, all=6)
@pytest.mark.parametrize("name", sorted(all_stacks()))
def test_legal_programs_end_with_a_thread(name: str) -> None:
    stack = present(name)
    variables = {**IN_BACKGROUND, "CONVENE_USE": "allgather=ring,allreduce=recursive_doubling,barrier=tree"}
    done = stack.run(2, [stack.program("legal_programs")], variables, timeout=120)
    assert done.status == 0, done.output
    assert "all legal programs have ended" in done.output
    usages = [profile["progress_thread"] for profile in done.profiles]
    assert len(usages) == 2
    assert all(usage["ran"] for usage in usages)


def test_the_profile_tells_of_forecasts() -> None:
    stack = present("openmpi4")
    # The program's library writes the profile, not the drop-in one, which sees nothing of the C API.
    done = run(stack, 4, "wrong")
    tallies = [
        tally
        for profile in done.profiles
        for communicator in profile["communicators"]
        for tally in communicator["phases"]
    ]
    assert {tally["algorithm"] for tally in tallies} == {"bdr", "bslb", "list_scheduled"}
    for tally in tallies:
        assert tally["runs"] == tally["phases"] == tally["forecasts"] == 6
        assert tally["error_seconds"] > 0.1 * tally["phase_seconds"]
        assert tally["early_messages"] <= tally["messages"]


def test_every_collective_with_such_algorithms_has_forecasts() -> None:
    done = run(present("openmpi4"), 4, "usual")
    tallies = [
        tally
        for profile in done.profiles
        for communicator in profile["communicators"]
        for tally in communicator["phases"]
    ]
    collectives = {
        name for name in _core.collectives() for known in _core.algorithms(name) if uses_forecasts(known)
    }
    assert {tally["collective"] for tally in tallies} == collectives
    assert all(tally["runs"] == tally["forecasts"] > 0 for tally in tallies)


def uses_forecasts(algorithm: core_types.Algorithm) -> bool:
    return algorithm["arrival_source"] == "forecast"


def test_without_thread_multiple_it_is_said_and_all_goes_on() -> None:
    """A program of the C API alone, which asks for one thread only."""
    stack = present("openmpi4")
    done = stack.run(3, [stack.program("phases"), "usual"], IN_BACKGROUND, preload=False, timeout=120)
    assert done.status == 0, done.output
    assert "CONVENE_PROGRESS_THREAD needs MPI_THREAD_MULTIPLE" in done.output


def test_a_core_that_does_not_exist_is_said() -> None:
    stack = present("openmpi4")
    variables = {**IN_BACKGROUND, "CONVENE_PROGRESS_CORE": "100000"}
    done = stack.run(
        2, [stack.program("phases"), "interleaved", "threads"], variables, preload=False, timeout=120
    )
    assert done.status == 0, done.output
    assert "CONVENE_PROGRESS_CORE=100000 is not a core" in done.output


def run_python(name: str, procs: int, *words: str | Path) -> str:
    stack = present(name)
    chosen, _ = mpi4py_suite.LIBRARIES[name]
    variables = IN_BACKGROUND | ({"MPI4PY_LIBMPI": chosen} if chosen else {})
    done = stack.run(procs, [sys.executable, *words], variables, preload=False, timeout=120)
    assert done.status == 0, done.output
    return done.output


@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_the_example_in_python(name: str) -> None:
    said = run_python(name, 3, ROOT / "examples" / "phases.py", "bdr")
    assert "allgather by bdr: 3 ranks, all right" in said


@pytest.mark.sampled(default=2, all=6)
@pytest.mark.parametrize("name", ["openmpi4", "openmpi5", "mpich5"])
@pytest.mark.parametrize("procs", [1, 3, 4])
def test_operations_from_python(name: str, procs: int) -> None:
    said = run_python(name, procs, ROOT / "tests" / "mpi" / "operations.py")
    assert "operations from Python: done" in said
