# SPDX-License-Identifier: BSD-3-Clause
"""Old spellings of commands: they work for one more release, and print a hint that names the new one."""

from collections.abc import Sequence
from typing import Any, ClassVar

from typer.core import TyperGroup

from convene import _core
from convene.base import console

UNTIL = "the old spelling works for one more release"


def hint(old: str, new: str) -> None:
    """Names the new spelling, on stderr."""
    console.complain(f"'{old}' is now '{new}'; {UNTIL}")


def take(words: Sequence[str], option: str) -> tuple[str | None, list[str]]:
    """The value of an option, and the other words; None if the option is not given."""
    for place, word in enumerate(words):
        if word == option and place + 1 < len(words):
            return words[place + 1], [*words[:place], *words[place + 2 :]]
        if word.startswith(f"{option}="):
            return word.partition("=")[2], [*words[:place], *words[place + 1 :]]
    return None, list(words)


def is_collective(word: str) -> bool:
    return word.replace("-", "_") in _core.collectives()


class RenamingGroup(TyperGroup):
    """A group whose subcommands were options of one command before."""

    old_options: ClassVar[dict[str, str]] = {}  # by their new names

    def translate(self, words: list[str]) -> list[str]:
        """The words of the old spelling in the new one."""
        raise NotImplementedError

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = list(args)
        is_old = bool(words) and words[0] not in ("-h", "--help") and words[0] not in self.commands
        if is_old and (words[0].startswith("-") or is_collective(words[0])):
            words = self.translate(words)
            if not ctx.resilient_parsing:
                hint(f"{ctx.command_path} {shown(args)}", f"{ctx.command_path} {shown(words)}")
        for place, word in enumerate(words):
            name, equals, value = word.partition("=")
            if name in self.old_options:
                words[place] = self.old_options[name] + equals + value
                if not ctx.resilient_parsing:
                    hint(name, self.old_options[name])
        return super().parse_args(ctx, words)


def shown(words: Sequence[str]) -> str:
    """The beginning of a command line."""
    return " ".join([*words[:2], "…"] if len(words) > 2 else words)
