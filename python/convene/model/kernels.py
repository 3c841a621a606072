# SPDX-License-Identifier: BSD-3-Clause
"""Kernel files: the partition of matrices, and the nodes of processes."""

import re
from dataclasses import dataclass
from pathlib import Path

from convene import _core
from convene._core import RequestError

Columns = list[tuple[int, list[tuple[int, int]]]]
COLUMN = re.compile(r"(\d{1,9})\s*:\s*(.*)")
RECTANGLE = re.compile(r"(\d{1,9})\s+(\d{1,9})")


@dataclass(frozen=True)
class Kernel:
    """Rectangles by column (width, then process and height of each), and the node of each process."""

    columns: Columns
    nodes: list[int]

    @property
    def request(self) -> _core.SummaRequest:
        return _core.SummaRequest(self.columns, self.nodes)


def lines_of(path: Path) -> list[tuple[int, str]]:
    """The non-empty lines, with their numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"cannot read {path}: {getattr(error, 'strerror', 'not a text file')}") from None
    stripped = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    found = [(number, line) for number, line in stripped if line]
    if not found:
        raise RequestError(f"{path} is empty; give one line for each process or column")
    return found


def read_layout(path: Path) -> list[int]:
    """The node of each process, from a FuPerMod configuration: one line for each process, its node first."""
    nodes: dict[str, int] = {}
    found = []
    for number, line in lines_of(path):
        words = line.split()
        if len(words) < 2 or not words[1].isdigit():
            raise RequestError(
                f"{path}, line {number}: '{line}' does not describe a process; give its node and "
                "its rank within the node, as in: node0 0 0-5 cpu"
            )
        found.append(nodes.setdefault(words[0], len(nodes)))
    return found


def read_partition(path: Path) -> Columns:
    """One line for each column: "149: 4 139, 5 117" is 149 blocks wide, process 4 has the upper 139 rows."""
    columns = []
    for number, line in lines_of(path):
        column = COLUMN.fullmatch(line)
        parts = [RECTANGLE.fullmatch(part.strip()) for part in column[2].split(",")] if column else []
        if column is None or not all(parts):
            raise RequestError(
                f"{path}, line {number}: '{line}' does not describe a column; give its width, then "
                "process and height of each rectangle: 149: 4 139, 5 117"
            )
        columns.append((int(column[1]), [(int(part[1]), int(part[2])) for part in parts if part]))
    return columns


def read(layout: Path, partition: Path) -> Kernel:
    return Kernel(read_partition(partition), read_layout(layout))
