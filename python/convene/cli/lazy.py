# SPDX-License-Identifier: BSD-3-Clause
"""Lazy loading: the module of a command is imported when the command is run or described."""

import importlib
from collections.abc import Iterator, MutableMapping
from typing import Any

import typer
from typer.core import TyperGroup

# In the order of --help. Each has a module in convene.cli.commands.
COMMANDS = (
    *("run", "list", "show", "verify", "bench", "report", "measure", "predict", "kernel"),
    *("tune", "wisdom", "rules", "info", "selftest", "simulate", "cluster", "trace", "advise"),
)


class Commands(MutableMapping[str, Any]):
    """The commands by name, imported one by one."""

    def __init__(self) -> None:
        self.loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        if name not in self.loaded:
            app = typer.Typer(rich_markup_mode="rich")
            importlib.import_module(f"convene.cli.commands.{name}").register(app)
            self.loaded[name] = typer.main.get_group(app).commands[name]
        return self.loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self.loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class LazyGroup(TyperGroup):
    """The application's commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = Commands()

    def list_commands(self, _context: Any) -> list[str]:
        return list(COMMANDS)
