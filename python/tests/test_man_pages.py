# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages: every command has one, with all its options; the tools that read them have no complaint."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from convene.cli.app import app

ROOT = Path(__file__).resolve().parents[2]


def commands_of(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, group
    for word, command in getattr(group, "commands", {}).items():
        yield from commands_of(command, f"{name}-{word}")


COMMANDS = dict(commands_of(typer.main.get_command(app), "convene"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, ROOT / "docs" / "ext" / "man_pages.py", folder], check=True)
    return folder


def shown(page: Path) -> str:
    """The page as a terminal shows it, in lines of any length."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-Tutf8", "-P-cbou", "-rLL=900n", str(page)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_every_command_has_its_page(pages: Path) -> None:
    assert {path.name for path in (pages / "man1").iterdir()} == {f"{name}.1" for name in COMMANDS}


def test_pages_have_every_option_and_subcommand(pages: Path) -> None:
    for name, command in COMMANDS.items():
        text = shown(pages / "man1" / f"{name}.1")
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else []:
                assert re.search(rf"^ +(\S+, )*{option}\b", text, re.MULTILINE), (name, option)
        for word in getattr(command, "commands", {}):
            assert re.search(rf"^ +{name}-{word}\(1\)", text, re.MULTILINE), (name, word)
        assert f"convene {name.removeprefix('convene').replace('-', ' ').strip()}".strip() in text


def test_every_variable_is_described(pages: Path) -> None:
    text = (ROOT / "docs" / "reference" / "environment.md").read_text()
    page = shown(pages / "man7" / "libconvene.7")
    variables = re.findall(r"`(CONVENE_\w+)`", text)
    assert len(variables) > 20
    for name in variables:
        assert name in page
    assert not re.search(r"[{`|]\w", re.sub(r"\w\|\w", "", page)), "Markdown was left in the page"


@pytest.mark.parametrize(
    "command", [("groff", "-ww", "-man", "-Tutf8", "-z"), ("man", "--warnings=w", "-l"), ("lexgrog",)]
)
def test_readers_have_no_complaint(pages: Path, command: tuple[str, ...]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    every = sorted(pages.glob("man*/*"))
    done = subprocess.run([*command, *every], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
