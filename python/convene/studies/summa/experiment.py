# SPDX-License-Identifier: BSD-3-Clause
"""SUMMA's partitions: those of the source (Rico-Gallego 2015, appendix A), and smaller ones."""

from dataclasses import dataclass

from convene import _core
from convene.studies.taulop.experiment import SUMMA, Columns

SOURCE = "Rico-Gallego 2015, tables A.3, A.7, A.11"
BLOCK = 64  # rows and columns of a block in the source
ELEMENT = 8  # bytes of a double


@dataclass(frozen=True)
class Partition:
    """Columns of rectangles (width; process and height) and the source's node of each process."""

    name: str
    columns: Columns
    nodes: list[int]

    @property
    def procs(self) -> int:
        return len(self.nodes)

    @property
    def text(self) -> str:
        """As the program takes it."""
        return "; ".join(
            f"{width}: " + ", ".join(f"{process} {height}" for process, height in rectangles)
            for width, rectangles in self.columns
        )

    def request(self, nodes: list[int] | None = None) -> _core.SummaRequest:
        return _core.SummaRequest(self.columns, self.nodes if nodes is None else nodes)


SOURCE_PARTITIONS = tuple(Partition(each.name, each.columns, each.nodes) for each in SUMMA)

# For machines with fewer cores than the source's processes.
PAIR = Partition("Pair", [(160, [(0, 256)]), (96, [(1, 256)])], [0, 1])
SQUARE = Partition("Square", [(128, [(0, 128), (1, 128)]), (128, [(2, 128), (3, 128)])], [0, 0, 1, 1])
MEASURED_PARTITIONS = (PAIR, SQUARE, *SOURCE_PARTITIONS)


def block_bytes(block: int) -> int:
    return block * block * ELEMENT
