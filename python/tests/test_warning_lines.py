# SPDX-License-Identifier: BSD-3-Clause
"""Warnings on a program's stderr, and the source lines that they name."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from convene._core import RequestError
from convene.run import processes
from convene.run.warning_lines import Lines

SOURCE = "int value;\nint main(void) {\n  value = 1;\n  return value;\n}\n"
WARNING = "convene: rank 0 has waited 10s in a collective called at {} for rank 3; it waits on"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not all(map(shutil.which, ("gcc", "nm", "addr2line"))):
        pytest.skip("gcc or binutils is not installed")
    folder = tmp_path_factory.mktemp("late")
    (folder / "late.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O0", "late.c", "-o", "late"], cwd=folder, check=True)
    return folder / "late"


def place_in(program: Path) -> str:
    """The return address of a call on the first line of main."""
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    (main,) = (int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T main"))
    return f"late+{main + 1:#x}"


def test_addresses_become_lines(program: Path) -> None:
    lines = Lines(["mpirun", "-n", "4", str(program), "1"])
    given = WARNING.format(place_in(program)).encode()
    assert lines.resolved(given).decode() == WARNING.format("late.c:2")


@pytest.mark.parametrize("place", ["late+0xffffff", "other+0x1139", "late.c:2"])
def test_what_is_unknown_stays(program: Path, place: str) -> None:
    given = WARNING.format(place).encode()
    assert Lines([str(program)]).resolved(given) == given


def test_other_lines_stay(program: Path) -> None:
    given = f"called at {place_in(program)}".encode()
    assert Lines([str(program)]).resolved(given) == given


def test_stderr_of_a_program(program: Path) -> None:
    """Through a pipe: whole warnings are rewritten, everything else arrives as it is, the status too."""
    text = f"plain\n{WARNING.format(place_in(program))}\nno end of line"
    script = f"import sys; sys.stderr.write({text!r}); sys.stderr.flush(); print('out'); sys.exit(3)"
    code = (
        "import os, sys; from convene.run import processes; "
        "sys.exit(processes.execute(sys.argv[1:], dict(os.environ), resolve=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, sys.executable, "-c", script, str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stdout == "out\n"
    assert done.stderr == f"plain\n{WARNING.format('late.c:2')}\nno end of line"


def test_a_command_that_cannot_be_started() -> None:
    with pytest.raises(RequestError, match="cannot start "):
        processes.execute(["/no/such/command"], dict(os.environ), resolve=True)


def test_a_handler_of_a_library_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A preloaded tool's MPI may have installed a handler, which Python reports as None."""
    real = signal.signal

    def report_none(number: int, handler: Any) -> Any:
        before = real(number, handler)
        return None if number == signal.SIGHUP else before

    before = signal.getsignal(signal.SIGHUP)
    monkeypatch.setattr(signal, "signal", report_none)
    try:
        assert processes.execute(["true"], dict(os.environ)) == 0
    finally:
        real(signal.SIGHUP, before)
