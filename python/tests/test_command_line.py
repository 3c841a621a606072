# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a whole: help, option groups, old spellings, fast start."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from convene.base import paths
from convene.cli.app import app
from convene.cli.groups import grouped
from convene.cli.renamed import take

Convene = Any


def command_of(words: tuple[str, ...]) -> Any:
    command: Any = typer.main.get_command(app)
    for word in words:
        command = command.commands[word]
    return command


def commands_of(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All commands, by their words."""
    for name, command in getattr(group, "commands", {}).items():
        yield (*before, name)
        yield from commands_of(command, (*before, name))


COMMANDS = [*commands_of(typer.main.get_command(app))]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_has_examples(convene: Convene, words: tuple[str, ...]) -> None:
    done = convene(*words, "--help")
    assert done.status == 0
    assert done.err == ""
    assert "Examples" in done.out
    assert re.search(rf"convene {' '.join(words)}\b", done.out.partition("Examples")[2])


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_values_of_options_are_whole(
    convene: Convene, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = convene(*words, "--help").out
    for parameter in command_of(words).params:
        for value in re.split(r"[|\n]", parameter.metavar or ""):
            assert value.strip() in shown
    assert not re.search(r"\w… *│", shown)


def test_the_new_subcommands_are_there() -> None:
    assert {words for words in COMMANDS if words[0] in ("simulate", "bench")} == {
        ("simulate",),
        *(("simulate", name) for name in ("sweep", "study", "program", "export", "platforms")),
        ("bench",),
        *(("bench", name) for name in ("run", "study")),
    }


SIMULATED = ("--platform", "yahoo", "-p", 4, "--sizes", 8, "--algorithms", "ring", "--json")


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (
            ("simulate", "allgather", *SIMULATED),
            ("simulate", "sweep", "allgather", *SIMULATED),
            "'convene simulate allgather --platform …' is now 'convene simulate sweep allgather …'",
        ),
        (
            ("simulate", *SIMULATED, "allgather"),
            ("simulate", "sweep", *SIMULATED, "allgather"),
            "'convene simulate --platform yahoo …' is now 'convene simulate sweep --platform …'",
        ),
    ],
)
def test_old_spellings(convene: Convene, old: tuple[object, ...], new: tuple[object, ...], hint: str) -> None:
    before, now = convene(*old), convene(*new)
    assert before.status == now.status == 0
    assert before.out == now.out
    assert now.err == ""
    assert before.err.splitlines() == [f"convene: {hint}; the old spelling works for one more release"]


def test_old_export_and_old_skeletons(convene: Convene, tmp_path: Path) -> None:
    old, new = tmp_path / "old.xml", tmp_path / "new.xml"
    done = convene("simulate", "--platform", "yahoo", "-p", 4, "--export", old)
    assert done.status == 0
    assert "is now 'convene simulate export yahoo …'" in done.err
    assert convene("simulate", "export", "yahoo", "-p", 4, "-o", new).status == 0
    assert old.read_text() == new.read_text()
    done = convene("simulate", "--skeleton", tmp_path / "none.json", "--platform", "yahoo", "-p", 4)
    hint, complaint = done.err.splitlines()
    assert "is now 'convene simulate program" in hint
    assert "none.json cannot be read" in complaint
    assert done.status == 2


@pytest.mark.parametrize(
    ("words", "new", "complaint"),
    [
        (
            ("simulate", "--study", "sparbitt"),
            "convene simulate study sparbitt",
            "there is no study 'sparbitt'",
        ),
        (("simulate", "--study=sparbitt", "--json"), "convene simulate study sparbitt …", "did you mean"),
        (("bench", "--study", "sparbitt"), "convene bench study sparbitt", "did you mean sparbit"),
        (("bench", "allgather", "-n", "0"), "convene bench run allgather …", "-n must be whole numbers"),
        (
            ("simulate", "sweep", "bcast", "--platform", "yahoo", "-p", "4", "--rivals", "ompi"),
            "--baselines",
            "add --engine smpi",
        ),
    ],
)
def test_old_spellings_have_the_same_errors(
    convene: Convene, words: tuple[str, ...], new: str, complaint: str
) -> None:
    done = convene(*words)
    assert done.status == 2
    hint, sentence = done.err.splitlines()
    assert f"is now '{new}'" in hint
    assert complaint in sentence


def test_the_mini_benchmark_has_one_name(convene: Convene) -> None:
    done = convene("bench", "study", "pap", "-n", 2, "--launcher", "no-such-launcher")
    assert "'pap' is now 'mini-benchmark'" in done.err
    assert done.status == 2


def test_platforms_are_listed_and_printed(convene: Convene, tmp_path: Path) -> None:
    listed = convene("simulate", "platforms", "--json").json
    assert {"name": "yahoo", "nodes": 16, "cores": 128}.items() <= next(
        each for each in listed if each["name"] == "yahoo"
    ).items()
    assert "yahoo" in convene("simulate", "platforms").out
    copy = tmp_path / "copy.json"
    copy.write_text(convene("simulate", "platforms", "yahoo").out)
    words = ("-p", 4, "--sizes", 8, "--algorithms", "ring", "--json")
    names = [
        convene("simulate", "sweep", "allgather", "--platform", place, *words).json["sizes"]
        for place in ("yahoo", copy)
    ]
    assert names[0] == names[1]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"model": 3}', '{"a": 1, "a": 2}', '{"model": {'])
def test_a_file_that_is_no_platform(convene: Convene, tmp_path: Path, text: str) -> None:
    path = tmp_path / "platform.json"
    path.write_text(text)
    assert "platform.json" in convene("simulate", "platforms", path).complaint


def test_a_model_platform_without_its_machine(convene: Convene, tmp_path: Path) -> None:
    path = tmp_path / "platform.json"
    platform = json.loads((paths.PACKAGE / "platforms" / "metropolis.json").read_text())
    del platform["machine"]
    path.write_text(json.dumps(platform))
    assert "has no machine" in convene("simulate", "platforms", path).complaint


@pytest.mark.parametrize(
    ("words", "value", "others"),
    [
        (["a", "--study", "x", "b"], "x", ["a", "b"]),
        (["--study=x"], "x", []),
        (["a", "--study"], None, ["a", "--study"]),
    ],
)
def test_the_value_of_an_option_is_taken(words: list[str], value: str | None, others: list[str]) -> None:
    assert take(words, "--study") == (value, others)


@dataclass(frozen=True)
class Numbers:
    """Numbers: of a test."""

    first: Annotated[int, typer.Option(help="One.")]
    second: Annotated[int, typer.Option("--other", help="Two.")] = 2


def test_groups_of_options() -> None:
    seen = []

    @grouped
    def command(word: Annotated[str, typer.Argument()], numbers: Numbers, *, flag: bool = False) -> None:
        seen.append((word, numbers, flag))

    made = typer.Typer()
    made.command()(command)
    typer.main.get_command(made)(["w", "--first", "1", "--flag"], standalone_mode=False)
    typer.main.get_command(made)(["w", "--first", "3", "--other", "4"], standalone_mode=False)
    assert seen == [("w", Numbers(1, 2), True), ("w", Numbers(3, 4), False)]
    options = {each.name: each for each in typer.main.get_command(made).params}
    assert options["first"].rich_help_panel == options["second"].rich_help_panel == "Numbers"  # type: ignore[attr-defined]
    assert options["first"].required
    assert options["flag"].rich_help_panel is None  # type: ignore[attr-defined]


SLOW = ("numpy", "scipy", "pandas", "matplotlib", "jinja2")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--help"],
        ["run", "--use", "allgather=ring", "--", "no-such-program"],
        ["list", "allgather"],
        ["show", "allgather", "ring", "-p", "4"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_commands_start_without_what_takes_long_to_load(words: list[str]) -> None:
    program = (
        "import sys; from convene.__main__ import run; "
        f"run({words!r}); print('LOADED', *sorted({{*{SLOW!r}}} & {{*sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_a_run_starts_without_what_takes_long_to_load(tmp_path: Path, libraries: Path) -> None:
    """The whole of a run, up to its summary."""
    program = (
        "import pathlib, sys; from convene.base import paths; from convene.__main__ import run; "
        f"paths.LIBRARIES = (pathlib.Path({str(libraries)!r}),); "
        "assert run(['run', '--stack', 'mpich', '--', 'true']) == 0; "
        f"print('LOADED', *sorted({{*{SLOW!r}}} & {{*sys.modules}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-1] == "LOADED"
