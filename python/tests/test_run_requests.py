# SPDX-License-Identifier: BSD-3-Clause
"""convene run: requests and rules that are refused, before anything starts."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Convene = Any
MakeLauncher = Callable[[str], Any]

OPEN_MPI = "mpirun (Open MPI) 5.0.11"
MPICH = "HYDRA build details:\n    Version:  5.0.2"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Missing argument"),
        (
            ("--", "mpirun-that-is-not-there", "-n", "2", "true"),
            "launcher 'mpirun-that-is-not-there' not found",
        ),
        (("--", "no-such-program"), "program 'no-such-program' not found"),
        (("--use", "", "--", "true"), "--use '' names no algorithm"),
        (("--use", ",", "--", "true"), "--use ',' names no algorithm"),
        (("--wisdom", "", "--", "true"), "--wisdom is empty"),
        (("--transport", "", "--", "true"), "invalid --transport ''"),
        (("--wisdom", "/", "--", "true"), "cannot read --wisdom /: Is a directory; name another file"),
        (("--", "true"), "cannot detect the MPI of 'true'; give --stack openmpi"),
        (
            ("--use", "allgather=sparbti", "--", "true"),
            "there is no allgather algorithm 'sparbti'; did you mean sp",
        ),
        (("--use", "sparbit", "--", "true"), "give the collective first, as in allgather=sparbit"),
        (
            ("--use", "allgather=ring", "--use", "allgather=bruck", "--", "true"),
            "allgather is given two algorithms",
        ),
        (("--rules", "no-such-file", "--", "true"), "the rules file no-such-file cannot be read"),
        (("--stack", "ompi", "--", "true"), "there is no stack 'ompi'"),
        (
            ("--report", "report.pdf", "--", "true"),
            "invalid --report 'report.pdf'; its name must end in .json or .html",
        ),
        (("--report", "no/such/report.html", "--", "true"), "the directory no/such does not exist"),
        (("--learn", "--observe", "--", "true"), "--observe and --learn exclude each other; give one"),
        (("--no-learn", "--observe", "--", "true"), "--observe and --no-learn exclude each other"),
        (("--learn-reductions", "--observe", "--", "true"), "--learn-reductions and --observe exclude"),
        (("--learn-reductions", "--reproducible", "--", "true"), "--learn-reductions and --reproducible"),
        (("--speed", "--", "true"), "--speed"),
        (("--transport", "fabrik", "--", "true"), "invalid --transport 'fabrik'; give mpi, fabric or"),
        (("--transport", "fabric:", "--", "true"), "invalid --transport 'fabric:'"),
        (("--transport", "fabric:tcp:told", "--", "true"), "where PROTOCOL is tagged (default), notified"),
        (("--transport", "fabric:tcp:hybird", "--", "true"), "hybrid (tagged up to 64 KiB, then puts)"),
        (("--transport", "fabric:tcp:tagged:4KiB", "--", "true"), "invalid --transport 'fabric:tcp:tagged:"),
        (("--transport", "fabric:tcp:hybrid:big", "--", "true"), "'big' is not a size"),
        (("--transport", "mpi:tcp:tagged", "--", "true"), "invalid --transport 'mpi:tcp:tagged'"),
        (("--transport", "mpi:tcp", "--", "true"), "invalid --transport 'mpi:tcp'"),
    ],
)
def test_wrong_requests(convene: Convene, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in convene("run", *arguments).complaint


RULE = '{"convene_rules": 1,\n"rules": [{"collective": "allgather",'


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ("{", "rules.json:1: this is not JSON: "),
        (
            '{\n"convene_rules": 2, "rules": []}',
            'rules.json:2: this version of Convene reads rules with "convene_rul',
        ),
        (RULE + '\n"use": "rnig"}]}', 'rules.json:3: "use" of rule 1: there is no allgather algorithm'),
        (
            RULE + '"use": "ring",\n\n"procs": "8"}]}',
            'rules.json:4: "procs" of rule 1 must be a whole number',
        ),
        (
            RULE + '"use": "ring",\n"byets": 8}]}',
            "rules.json:3: rule 1: there is no field 'byets'; did you mean bytes?",
        ),
    ],
)
def test_broken_rules(convene: Convene, tmp_path: Path, rules: str, sentence: str) -> None:
    path = tmp_path / "rules.json"
    path.write_text(rules)
    assert sentence in convene("run", "--rules", path, "--", "true").complaint


def test_programs_that_cannot_be_run(convene: Convene, tmp_path: Path) -> None:
    program = tmp_path / "noexec.sh"
    program.touch()
    for command in (("run", "--"), ("info",)):
        assert convene(*command, program).complaint == (
            f"program '{program}' is not executable; run chmod +x {program}"
        )
        assert f"program '{tmp_path}' is a directory" in convene(*command, tmp_path).complaint
    launcher = tmp_path / "mpirun"
    launcher.touch()
    assert f"launcher '{launcher}' is not executable" in convene("run", "--", launcher, "true").complaint


def test_rules_from_a_pipe(convene: Convene, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rules.json")
    assert "is a pipe" in convene("run", "--rules", tmp_path / "rules.json", "--", "true").complaint


def test_nothing_starts_when_the_request_is_wrong(
    convene: Convene, make_launcher: MakeLauncher, libraries: Path
) -> None:
    launcher = make_launcher(OPEN_MPI)
    assert convene("run", "--use", "allgather=rnig", "--", launcher, "-n", 1, "true").status == 2
    assert convene("run", "--stack", "mpich", "--", launcher, "-n", 1, "true").status == 2
    (libraries / "libconvene-preload-openmpi.so").unlink()
    assert (
        "libconvene-preload-openmpi.so not found" in convene("run", "--", launcher, "-n", 1, "true").complaint
    )
    assert not launcher.record.exists()


@pytest.mark.usefixtures("libraries")
def test_an_mpi_that_does_not_match(convene: Convene, make_launcher: MakeLauncher) -> None:
    launcher = make_launcher(OPEN_MPI)
    complaint = convene("run", "--stack", "abi", "--", launcher, "-n", 1, "true").complaint
    assert complaint.startswith(
        f"--stack abi does not match {launcher}, which belongs to Open MPI; give --stack "
    )
    assert complaint.endswith("--stack openmpi")
    stranger = make_launcher("spacelaunch 1.0")
    assert "does not name its MPI" in convene("run", "--", stranger, "-n", 1, "true").complaint
    assert convene("run", "--stack", "mpich", "--", stranger, "-n", 1, "true").status == 0
