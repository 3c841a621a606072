# SPDX-License-Identifier: BSD-3-Clause
"""Completion of words that Bash divides at = and :, and of a named shell."""

import os
import subprocess
import sys

import pytest
from convene.cli import bash_words


@pytest.mark.parametrize(
    ("words", "current", "expected", "place", "kept"),
    [
        ("run --use allgather = sp", 5, "run --use allgather=sp", 3, "allgather="),
        ("run --use allgather =", 4, "run --use allgather=", 3, "allgather="),
        ("run --use allgather=sp", 3, "run --use allgather=sp", 3, ""),  # Bash is set not to divide them
        ("run --use allga", 3, "run --use allga", 3, ""),
        ("simulate", 2, "simulate", 2, ""),
        ("show --arrivals late : 3 : 1", 7, "show --arrivals late:3:1", 3, "late:3:"),
        ("run --use a = b --help", 6, "run --use a=b --help", 4, ""),
    ],
)
def test_words_are_joined(words: str, current: int, expected: str, place: int, kept: str) -> None:
    found = bash_words.joined(["convene", *words.split()], current)
    assert found == (["convene", *expected.split()], place, kept)


def test_an_empty_word_is_one() -> None:
    assert bash_words.joined(["convene", "simulate", ""], 2) == (["convene", "simulate", ""], 2, "")


def completed(*words: str) -> list[str]:
    variables = {
        "_CONVENE_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(["convene", *words]),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-m", "convene"]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_what_follows_the_sign_is_completed() -> None:
    assert completed("run", "--use", "allgather", "=", "sp") == ["sparbit"]
    assert "ring" in completed("run", "--use", "allgather", "=")
    assert completed("show", "--format", "=", "s") == ["svg"]
    assert completed("show", "allgather", "sparb") == ["sparbit"]


@pytest.mark.parametrize(("shell", "begins"), [("zsh", "#compdef convene"), ("fish", "complete ")])
def test_the_script_is_of_the_named_shell(shell: str, begins: str) -> None:
    command = [sys.executable, "-m", "convene", "--show-completion", shell]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(begins)


def test_an_unknown_shell_is_refused() -> None:
    command = [sys.executable, "-m", "convene", "--show-completion", "nosuch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'nosuch' is not one of" in done.stderr
