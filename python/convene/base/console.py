# SPDX-License-Identifier: BSD-3-Clause
"""Console output: results on stdout, everything about them on stderr."""

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from convene._core import RequestError
from convene.base import jsons
from convene.base.tables import SPACE, FittingTable, fold

WIDTH_IN_FILES = 200  # without a terminal, and without COLUMNS
INDENT = "  "  # of the further lines of a sentence


class OutputConsole(Console):
    """A console whose closed pipe is for the entry point to handle."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def make(*, error: bool = False) -> Console:
    """A console, made when it is used, since streams may be replaced."""
    stream = sys.stderr if error else sys.stdout
    return OutputConsole(stderr=error, width=width_of(is_terminal=stream.isatty()), highlight=False)


def width_of(*, is_terminal: bool) -> int | None:
    """COLUMNS, as terminals and pipes into pagers have it; None is the terminal's own width."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    return None if is_terminal else WIDTH_IN_FILES


def text_width(*, error: bool = False) -> int:
    """Of a stream, for texts that a file or a program gets as they are."""
    is_terminal = (sys.stderr if error else sys.stdout).isatty()
    return make(error=error).width if is_terminal or width_of(is_terminal=True) else sys.maxsize


def say(sentence: str, *, error: bool = False) -> None:
    """Prints a sentence, folded at spaces."""
    lines = fold(Text(sentence), text_width(error=error) - len(INDENT), SPACE)
    for place, line in enumerate(lines):
        make(error=error).print((INDENT if place else "") + line.plain, markup=False, soft_wrap=True)


def complain(sentence: str) -> None:
    """Prints one line on stderr."""
    line = jsons.printable(sentence).replace("\n", "\\x0a")  # of a text that is quoted
    with contextlib.suppress(OSError):  # stderr is full or closed; the exit status remains
        print(f"convene: {line}", file=sys.stderr, flush=True)


def table(
    title: str,
    *columns: str,
    numbers: Sequence[str] = (),
    optional: Sequence[str] = (),
    keys: int = 1,
    whole: Sequence[str] = (),
    shortens: Sequence[str] = (),
) -> FittingTable:
    """An empty table that fits the console. `numbers` are right-aligned and, as `whole` ones, never folded.
    Where the width does not suffice, long words of the columns `shortens` are shortened, then `optional` ones
    are left out, the least important first. If it still does not, columns continue in a further block, which
    repeats the first `keys`."""
    result = FittingTable(title, optional, keys, whole, shortens)
    for column in columns:
        result.add_column(column, justify="right" if column in numbers else "left")
    return result


def json_text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def print_json(value: Any) -> None:
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json_text(value) if is_unicode else json.dumps(value, indent=1))


def check_file(path: Path) -> None:
    """Refuses a file that `write_file` cannot write, before the work starts."""
    if path.is_dir():
        raise RequestError(f"cannot write {path}: it is a directory; name a file in it")
    if not path.parent.is_dir():
        raise RequestError(f"cannot write {path}: the directory {path.parent} does not exist")
    real = path.resolve()
    is_replaceable = os.access(real.parent, os.W_OK | os.X_OK)
    if not is_replaceable and not (real.exists() and os.access(real, os.W_OK)):
        raise RequestError(f"cannot write {path}: the directory {path.parent} is not writable; name another")


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file that the user asked for. If it cannot be written as a whole, a regular file keeps its
    content, and no new one is left."""
    real = path.resolve()
    is_old = real.is_file()
    is_replaced = (is_old or not real.exists()) and os.access(real.parent, os.W_OK)
    target = real.with_name(f".{real.name}.{os.getpid()}.part") if is_replaced else path
    try:
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if is_old and is_replaced:
            shutil.copymode(real, target)
        if is_replaced:
            target.replace(real)
    except OSError as error:
        if is_replaced:
            target.unlink(missing_ok=True)
        raise RequestError(f"cannot write {path}: {error.strerror}") from None
