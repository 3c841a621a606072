# SPDX-License-Identifier: BSD-3-Clause
"""Hostile input: nested, damaged and foreign files, arguments that are not UTF-8, closed streams."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, TypedDict

import pytest
from convene._core import RequestError
from convene.base import jsons
from convene.base.paths import PACKAGE
from convene.trace import call_sites

Convene = Any
COMMAND = (sys.executable, "-m", "convene")
DEEP = "[" * 70_000 + "]" * 70_000
NOT_UTF8 = os.fsdecode(b"\xff")
LONG_NAME = "a" * 5000


def start(words: str) -> subprocess.CompletedProcess[str]:
    """A shell runs `convene WORDS`."""
    line = words.replace("convene", " ".join(COMMAND))
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, timeout=400)


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "sweep", "allgather", "-p", 4, "--platform"),
        ("predict", "allgather", "-p", 4, "--platform"),
        ("simulate", "program", "--platform", "yahoo", "-p", 4),
        ("report",),
    ],
)
def test_deep_nesting_is_refused_in_one_sentence(
    convene: Convene, tmp_path: Path, words: tuple[Any, ...]
) -> None:
    path = tmp_path / "deep.json"
    path.write_text(DEEP)
    assert "nested too deeply; at most 64 levels are read" in convene(*words, path).complaint


def test_a_deeply_nested_recording(convene: Convene, tmp_path: Path) -> None:
    (tmp_path / "recording-0-0.bin").write_text(DEEP + "\n")
    assert "nested too deeply" in convene("trace", tmp_path).complaint


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "sweep", "allgather", "-p", 4, "--platform", LONG_NAME),
        ("simulate", "sweep", "allgather", "-p", 4, "--platform", "yahoo", "--arrivals", LONG_NAME),
        ("show", "allgather", "ring", "-p", 4, "-o", LONG_NAME),
    ],
)
def test_file_names_that_are_too_long(convene: Convene, words: tuple[Any, ...]) -> None:
    sentence = convene(*words).complaint
    assert "…' is too long; shorten it" in sentence
    assert len(sentence) < 100


def test_an_object_whose_name_is_too_long() -> None:
    assert call_sites.look_up("/" + LONG_NAME, [1, 2]) == ["", ""]


def test_a_platform_followed_by_a_nul(convene: Convene, tmp_path: Path) -> None:
    path = tmp_path / "platform.json"
    path.write_bytes((PACKAGE / "machines" / "tryton.json").read_bytes() + b"\0")
    said = convene("simulate", "sweep", "allgather", "-p", 4, "--platform", path).complaint
    assert "this is not JSON: a NUL byte" in said


@pytest.mark.parametrize(
    "words",
    [
        ("show", NOT_UTF8, "ring", "-p", 4),
        ("show", "allgather", "ring", "-p", 4, "--format", NOT_UTF8),
        ("run", "--use", f"allgather={NOT_UTF8}", "--", "true"),
        ("verify", NOT_UTF8),
        (NOT_UTF8,),
        ("cluster", NOT_UTF8),
        ("bench", "run", "allgather", "-n", 2, "--algorithms", NOT_UTF8),
        ("predict", "allgather", "-p", 4, "--platform", NOT_UTF8),
    ],
)
def test_arguments_that_are_not_utf8(convene: Convene, words: tuple[Any, ...]) -> None:
    assert "\\xff' is not UTF-8" in convene(*words).complaint


def test_closed_output() -> None:
    done = start("convene list --json >&-")
    assert (done.returncode, done.stderr) == (1, "convene: standard output is closed: Bad file descriptor\n")
    for stream in ("2>&-", "2>/dev/full"):  # the sentence is lost, the status is not
        assert start(f"convene list nosuch {stream}").returncode == 2
    for words in ("list", "list --json", "list allgather"):
        done = start(f"convene {words} | head -1")
        assert (done.returncode, done.stderr) == (0, ""), words


class Inner(TypedDict):
    numbers: list[float]


class Outer(TypedDict):
    name: str
    inner: list[Inner]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": 5, "inner": []}', "name must be a text, not 5"),
        ('{"name": "", "inner": [{}]}', "inner[0].numbers is missing"),
        ('{"name": "", "inner": [{"numbers": [1, 2.5, "x"]}]}', 'numbers[2] must be a number, not "x"'),
        ('{"name": "", "inner": [{"numbers": [1e999]}]}', "numbers[0] must be a number"),
        ('{"name": "", "inner": [{"numbers": [true]}]}', "numbers[0] must be a number, not true"),
        ('{"name": NaN}', "NaN is not a number of JSON"),
        ('{"name": "\\ud800", "inner": []}', "not UTF-8"),
        ('{"name": ', "is cut off (line 1, column 10)"),
        ("[" * 64 + "]" * 64, "must be an object, not a list"),
        ("[" * 65 + "]" * 65, "nested too deeply"),
    ],
)
def test_the_reader_names_the_field(text: str, said: str) -> None:
    with pytest.raises(RequestError, match=r"x\.json") as caught:
        jsons.check(jsons.parse(text, "x.json"), Outer, "x.json")
    assert said in str(caught.value)
    assert str(caught.value).startswith("x.json")


def test_control_characters_of_files_are_escaped() -> None:
    assert jsons.parse(json.dumps("a\x1b[31m\tb\n\x9b"), "") == "a\\x1b[31m\tb\n\\x9b"
