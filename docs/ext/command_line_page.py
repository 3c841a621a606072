# SPDX-License-Identifier: BSD-3-Clause
"""The command-line reference, generated from --help."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pages
import typer
from convene.cli.app import app


def prose(text: str) -> str:
    """Help as Markdown: its bold words, and its indented lines as one block of commands."""
    parts: list[str] = []
    commands: list[str] = []

    def end_commands() -> None:
        if commands:
            parts.append("```text\n" + "\n".join(commands) + "\n```")
            commands.clear()

    for line in text.strip().splitlines():
        if line.startswith("  "):
            commands.append(line.strip())
        elif line.strip():
            end_commands()
            parts.append(re.sub(r"\[/?bold\]", "**", line).replace("<", "\\<"))
        elif not commands:
            parts.append("")
    end_commands()
    return "\n".join(part if part.startswith("```") else f"{part}" for part in parts) + "\n"


def option(parameter: Any) -> tuple[str, str]:
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    is_flag = getattr(parameter, "is_flag", False)
    takes = (parameter.metavar or ("" if is_flag else "VALUE")).replace("\n", "")
    return (f"{names} `{takes}`" if takes else names, parameter.help or "")


def argument(parameter: Any) -> tuple[str, str]:
    return f"`{parameter.metavar or parameter.name}`", parameter.help or ""


def panels(parameters: list[Any]) -> dict[str, list[Any]]:
    """The options by the headings of --help."""
    found: dict[str, list[Any]] = {}
    for parameter in parameters:
        found.setdefault(parameter.rich_help_panel or "Options", []).append(parameter)
    return found


def section(name: str, command: Any) -> str:
    text = f"## convene {name}\n\n{prose(command.help)}"
    arguments = [argument(p) for p in command.params if p.param_type_name == "argument"]
    if arguments:
        text += "\n" + pages.table(("argument", "is"), arguments)
    options = [p for p in command.params if p.param_type_name == "option"]
    for panel, members in panels(options).items():
        text += f"\n**{panel}**\n\n" + pages.table(("option", "does"), [option(p) for p in members])
    return text


def commands_of(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All commands with their names, those of a group after it."""
    for name, command in getattr(group, "commands", {}).items():
        yield prefix + name, command
        yield from commands_of(command, f"{prefix}{name} ")


def write(path: Path) -> None:
    commands = commands_of(typer.main.get_command(app))
    text = (
        "# The command\n\n"
        "Every command has `--help`; those that print a table have `--json`. The exit status is 0 "
        "where it was done, 1 where something ran and failed, 2 where the request was wrong, 130 where it "
        "was interrupted; `convene run` ends with the status of the program. "
        "`convene --install-completion` teaches the shell the names of collectives and algorithms.\n\n"
    )
    pages.write(path, text + "\n".join(section(name, command) for name, command in commands))
