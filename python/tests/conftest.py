# SPDX-License-Identifier: BSD-3-Clause
"""What the command's tests share: a way to call it, and an MPI that is not there."""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from convene.__main__ import run
from convene.base import paths


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one sentence of a wrong request."""
        assert self.status == 2, self
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("convene: ")
        return lines[0].removeprefix("convene: ")


Convene = Callable[..., Outcome]


@pytest.fixture
def convene(capfd: pytest.CaptureFixture[str]) -> Convene:
    """Calls the command as `convene('show', 'allgather', …)`."""

    def call(*arguments: object) -> Outcome:
        capfd.readouterr()
        status = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


# Stands in for a launcher: prints its version, records its arguments and variables, and runs the last program
# as often as -n says, with the variables that it passes on.
LAUNCHER = """#!{python}
import json, os, subprocess, sys

if sys.argv[1:] == ["--version"]:
    print({version!r})
    sys.exit()
words, variables, preload = sys.argv[1:], {{}}, None
while words and words[0].startswith("-"):
    option = words.pop(0)
    if option == "-x":
        name, _, value = words.pop(0).partition("=")
        variables[name] = value or os.environ[name]
    elif option == "-genv":
        name, value = words.pop(0), words.pop(0)
        variables[name] = value
    elif option == "-n":
        number = int(words.pop(0))
received = {{"arguments": sys.argv[1:], "variables": variables, "preload": os.environ.get("LD_PRELOAD")}}
with open({record!r}, "w") as file:
    json.dump(received, file)
variables.pop("LD_PRELOAD", None)  # this test has no library that could be loaded
status = 0
for rank in range(number):
    received = {{**os.environ, **variables, "RANK": str(rank), "PROCS": str(number)}}
    status = max(status, subprocess.run(words, env=received).returncode)
sys.exit(status)
"""


@dataclass
class Launcher:
    """A launcher's path, and what it was received."""

    path: Path
    record: Path

    @property
    def received(self) -> Any:
        return json.loads(self.record.read_text())

    def __str__(self) -> str:
        return str(self.path)


def write_program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def make_launcher(tmp_path: Path) -> Callable[[str], Launcher]:
    def make(version: str) -> Launcher:
        record = tmp_path / "received.json"
        text = LAUNCHER.format(python=sys.executable, version=version, record=str(record))
        return Launcher(write_program(tmp_path / "mpirun", text), record)

    return make


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that has a drop-in library for every stack, if only in name."""
    folder = tmp_path / "lib"
    folder.mkdir()
    for stack in ("openmpi", "mpich", "abi"):
        (folder / f"libconvene-preload-{stack}.so").touch()
    monkeypatch.setattr(paths, "LIBRARIES", (folder,))
    return folder


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith("CONVENE_") or name in ("LD_PRELOAD", "COLUMNS"):
            monkeypatch.delenv(name)


WIDE = 4000  # columns, where nothing has to be folded
BREAKS = re.compile(r"(?<=[;,/])|\s+")


def pieces(text: str) -> set[str]:
    """Words, and the parts between which a long one may be folded."""
    return {piece for piece in BREAKS.split(text) if piece}


@pytest.fixture
def check_tables(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Checks all that `show` prints at 80 and 120 columns: no line is longer, no word is cut, and the
    essential columns are there."""

    def check(show: Callable[[], str], *essential: str) -> None:
        def at(width: int) -> str:
            monkeypatch.setenv("COLUMNS", str(width))
            return show()

        words = pieces(at(WIDE)) | pieces("left out at this width:")
        words |= {f"{word}," for word in words}
        for width in (80, 120):
            text = at(width)
            assert [line for line in text.splitlines() if len(line) > width] == []
            assert re.search(r"\S…(\s|$)", text, re.MULTILINE) is None, text
            assert pieces(text) - words == set(), text
        narrow = pieces(re.sub(r"(?m)^left out at this width:.*(\n.+)?", "", at(80)))
        assert [head for head in essential if not pieces(head) <= narrow] == []

    return check


LINK = {"latency": 1e-6, "bandwidth": 1e9}
PLATFORM = {
    "convene_platform": 1,
    "name": "small",
    "machine": "node:8 core:2",
    "within": {"node": {"latency": 1e-7, "bandwidth": 1e10}},
    "network": {"shape": "one_switch", "node": LINK},
    "eager": "1GiB",
}


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    """A file with a platform to simulate on: eight nodes of two cores on one switch."""
    path = tmp_path / "small.json"
    path.write_text(json.dumps(PLATFORM))
    return path
