# SPDX-License-Identifier: BSD-3-Clause
"""Console output: results on stdout, everything about them on stderr."""

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from convene._core import RequestError
from convene.base import jsons

# Without a terminal there is no width to keep.
WIDTH_IN_FILES = 200


class OutputConsole(Console):
    """A console whose closed pipe is for the entry point to handle."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def make(*, error: bool = False) -> Console:
    """A console, made when it is used, since streams may be replaced."""
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else WIDTH_IN_FILES
    return OutputConsole(stderr=error, width=width, highlight=False)


def complain(sentence: str) -> None:
    """Prints one line on stderr."""
    print(f"convene: {jsons.printable(sentence)}", file=sys.stderr)


def table(title: str, *columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns in `numbers` are right-aligned."""
    result = Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in columns:
        result.add_column(column, justify="right" if column in numbers else "left", header_style="bold")
    return result


def json_text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def print_json(value: Any) -> None:
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json_text(value) if is_unicode else json.dumps(value, indent=1))


def write_file(path: Path, text: str) -> None:
    """Writes a file that the user asked for."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError(f"{path} cannot be written: {error.strerror}") from None
