# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a launcher and a program belong to."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from convene._core import RequestError
from convene.base import paths
from convene.mpi import launchers, settings, stacks, usages
from convene.mpi.usages import Usage, choose_stack, python_of, stack_of_python, usage_of

OPEN_MPI = launchers.Launcher(Path("/opt/mpirun"), "Open MPI")
MPICH = launchers.Launcher(Path("/opt/mpiexec"), "MPICH")
SRUN = launchers.Launcher(Path("/opt/srun"), "Slurm")


def usage(stack: str, library: str, program: str = "./app") -> Usage:
    return Usage(program, stack, library, is_python=False)


@pytest.mark.parametrize(
    ("text", "stack"),
    [
        ("\tlibmpi.so.40 => /usr/lib/libmpi.so.40 (0x7f)", "openmpi"),
        ("\tlibmpi_mpifh.so.40 => not found", "openmpi"),
        ("\tlibmpich.so.12 => /lib/libmpich.so.12 (0x7f)", "mpich"),
        ("\tlibmpi.so.12 => not found", "mpich"),
        ("\tlibmpifort.so.12 => not found", "mpich"),
        ("\tlibmpi_abi.so.1 => not found", "abi"),
        ("\tlibc.so.6 => /lib/libc.so.6 (0x7f)", None),
    ],
)
def test_libraries(text: str, stack: str | None) -> None:
    found = stacks.stack_in(text)
    assert (found[0] if found else None) == stack


@pytest.mark.parametrize(
    ("words", "programs"),
    [
        ("-n 8 true", [["true"]]),
        ("-np 8 --map-by core true a -n b", [["true", "a", "-n", "b"]]),
        ("--mca btl self -x PATH --hostfile hosts true", [["true"]]),
        ("-genv A env -n 4 true", [["true"]]),
        ("--mca=x -n 1 true : -n 2 false x", [["true"], ["false", "x"]]),
        ("-n 8 ./nowhere", []),
        ("", []),
    ],
)
def test_programs_in_a_command_line(words: str, programs: list[list[str]]) -> None:
    assert launchers.programs_of(words.split(), MPICH.values) == programs


def test_programs_in_a_command_line_of_srun() -> None:
    words = "-N 2 -p test --mpi pmix --export=ALL -n4 --exclusive true -n 3 : -n 1 false"
    assert launchers.programs_of(words.split(), SRUN.values) == [["true", "-n", "3"], ["false"]]


@pytest.mark.parametrize(
    ("words", "exported"),
    [
        ("-n 4 true", "ALL,LD_PRELOAD=/c.so"),
        ("-n 4 --export=ALL,A=1 true", "ALL,A=1,LD_PRELOAD=/c.so"),
        ("-n 4 --export A true", "A,CONVENE_USE,LD_PRELOAD=/c.so"),
        ("-n 4 --export=NONE true", "CONVENE_USE,LD_PRELOAD=/c.so"),
    ],
)
def test_srun_hands_on_what_it_is_told_to(words: str, exported: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.delenv("SLURM_EXPORT_ENV", raising=False)
    made = launchers.for_ranks(SRUN, words.split(), Path("/c.so"), {"CONVENE_USE": "bcast=chain"})
    assert made == ["/opt/srun", f"--export={exported}", "-n", "4", "true"]


def test_srun_is_known_by_its_name(tmp_path: Path) -> None:
    command = tmp_path / "srun"
    command.write_text("#!/bin/sh\nexit 1\n")
    command.chmod(0o755)
    for wanted in (None, "openmpi"):
        assert launchers.find_launcher(str(command), wanted).family == stacks.SLURM


def test_srun_in_a_job_that_hands_on_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.setenv("SLURM_EXPORT_ENV", "NONE")
    made = launchers.for_ranks(SRUN, ["true", ":", "false"], Path("/c.so"), {"CONVENE_USE": "bcast=chain"})
    exported = "--export=CONVENE_USE,LD_PRELOAD=/c.so"
    assert made == ["/opt/srun", exported, "true", ":", exported, "false"]


def choose(
    monkeypatch: pytest.MonkeyPatch,
    found_usages: list[Usage],
    launcher: launchers.Launcher | None,
    wanted: str | None = None,
) -> str:
    found = {known.program: known for known in found_usages}
    monkeypatch.setattr(usages, "usage_of", lambda command, _launcher: found.get(command[0]))
    return choose_stack(launcher, [[known.program] for known in found_usages] or [["./app"]], wanted)


def test_the_program_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(monkeypatch, [usage("abi", "libmpi_abi.so.1")], MPICH) == "abi"
    assert choose(monkeypatch, [usage("mpich", "libmpi.so.12")], MPICH) == "mpich"
    assert choose(monkeypatch, [usage("openmpi", "libmpi.so.40")], None) == "openmpi"


def test_the_launcher_decides_where_the_program_does_not_say(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(monkeypatch, [], OPEN_MPI) == "openmpi"
    assert choose(monkeypatch, [], MPICH) == "mpich"
    assert choose(monkeypatch, [], launchers.Launcher(Path("mpiexec"), "Intel MPI")) == "abi"
    assert choose(monkeypatch, [], MPICH, "abi") == "abi"
    assert choose(monkeypatch, [], SRUN, "mpich") == "mpich"
    assert choose(monkeypatch, [usage("mpich", "libmpi.so.12")], SRUN) == "mpich"
    with pytest.raises(RequestError, match=r"cannot detect the MPI of '\./app'; give --stack openmpi"):
        choose(monkeypatch, [], SRUN)


def test_what_does_not_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    mismatch = r"^./app uses MPICH \(libmpi.so.12\), but /opt/mpirun belongs to Open MPI; start it with the"
    with pytest.raises(RequestError, match=mismatch):
        choose(monkeypatch, [usage("mpich", "libmpi.so.12")], OPEN_MPI)
    with pytest.raises(RequestError, match=r"a uses libmpi_abi.so.1 and b uses libmpi.so.12"):
        choose(
            monkeypatch, [usage("abi", "libmpi_abi.so.1", "a"), usage("mpich", "libmpi.so.12", "b")], MPICH
        )
    with pytest.raises(RequestError, match=r"cannot detect the MPI of '\./app'"):
        choose(monkeypatch, [], None)


def test_scripts(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env python3\n")
    assert python_of(script) == "python3"
    script.write_text("#!/bin/sh\n")
    assert python_of(script) is None
    script.chmod(0o755)
    assert usage_of([str(script)], None) is None


def test_python_programs_are_asked_where_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(command: list[str]) -> str:
        asked.append(command[0])
        return "libmpi.so.12" if command[0] == "/opt/mpiexec" else "libmpi.so.40"

    monkeypatch.setattr(launchers, "output_of", answer)
    # Elsewhere it would find another MPI than under the launcher: that one counts.
    assert stack_of_python("python3", MPICH) == ("mpich", "libmpi.so.12")
    assert asked == ["python3", "/opt/mpiexec"]
    assert stack_of_python("python3", OPEN_MPI) == ("openmpi", "libmpi.so.40")


@pytest.mark.parametrize("stack", ["openmpi", "mpich"])
def test_a_program_that_was_built(tmp_path: Path, stack: str) -> None:
    wrapper = shutil.which(f"mpicc.{stack}")
    if wrapper is None:
        pytest.skip(f"mpicc.{stack} is not installed")
    source = tmp_path / "app.c"
    source.write_text("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n")
    subprocess.run([wrapper, str(source), "-o", str(tmp_path / "app")], check=True)
    found = usage_of([str(tmp_path / "app")], None)
    assert found is not None
    assert found.stack == stack


@pytest.mark.parametrize(("launcher", "family"), [("mpirun.openmpi", "Open MPI"), ("mpiexec.mpich", "MPICH")])
def test_a_launcher_that_is_there(launcher: str, family: str) -> None:
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not installed")
    assert launchers.find_launcher(launcher, None).family == family


def test_mpich_is_found_by_either_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tools that need libmpich.so.12 start with an MPICH whose library is libmpi.so.12."""
    own, stand_in = tmp_path / "mpich" / "lib", tmp_path / "convene" / "mpich"
    own.mkdir(parents=True)
    stand_in.mkdir(parents=True)
    (own / "libmpi.so.12").touch()
    monkeypatch.setattr(paths, "LIBRARIES", (tmp_path / "none", stand_in.parent))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/other")
    launcher = launchers.Launcher(tmp_path / "mpich" / "bin" / "mpirun", "MPICH")
    assert settings.mpi_variables(launcher, 2)["LD_LIBRARY_PATH"] == f"{own}:{stand_in}:/other"
    (own / "libmpich.so.12").touch()
    assert settings.mpi_variables(launcher, 2)["LD_LIBRARY_PATH"] == f"{own}:/other"


def test_the_library_stands_before_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "LD_PRELOAD", "/other.so")
    assert launchers.preload_value(Path("/convene.so")) == "/convene.so:/other.so"
