# SPDX-License-Identifier: BSD-3-Clause
"""SUMMA on any partition, as summa.c has it: an ordinary mpi4py program.

C = A B with one rectangle of the matrices for each process. In iteration k the owners of A's k-th column of
blocks send their parts to the processes of other columns of the partition that have the same rows, and the
owner of B's k-th row in each column broadcasts its part there.

    mpirun -n 6 python summa.py --partition config1.partition --block 4

Source: van de Geijn and Watts 1995; irregular partitions: the τ-Lop thesis (Rico-Gallego 2015), appendix A.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Rectangle:
    """In blocks. `place`: from the top of its column of the partition."""

    column: int
    place: int
    top: int
    height: int
    left: int
    width: int

    def has_column(self, k: int) -> bool:
        return self.left <= k < self.left + self.width

    def has_row(self, k: int) -> bool:
        return self.top <= k < self.top + self.height

    def common_rows(self, other: "Rectangle") -> tuple[int, int]:
        """First and last + 1; empty if the last is not larger."""
        return max(self.top, other.top), min(self.top + self.height, other.top + other.height)


def read_partition(text: str) -> dict[int, Rectangle]:
    """By process, from lines such as "149: 4 139, 5 117"."""
    lines = [line.partition("#")[0].strip() for line in text.replace(";", "\n").splitlines()]
    found, left = {}, 0
    for column, line in enumerate(filter(None, lines)):
        width, _, parts = line.partition(":")
        top = 0
        for place, part in enumerate(parts.split(",")):
            process, height = map(int, part.split())
            found[process] = Rectangle(column, place, top, height, left, int(width))
            top += height
        left += int(width)
    return found


def elements(rows: slice, columns: slice, factors: tuple[int, int], modulus: int) -> Matrix:
    """Small integers: sums of products are exact."""
    i, j = np.ogrid[rows, columns]
    found: Matrix = ((i * factors[0] + j * factors[1]) % modulus - modulus // 2).astype(np.float64)
    return found


def of_a(rows: slice, columns: slice) -> Matrix:
    return elements(rows, columns, (7, 3), 11)


def of_b(rows: slice, columns: slice) -> Matrix:
    return elements(rows, columns, (5, 2), 13)


class Kernel:
    """One process's rectangle, and the messages of an iteration."""

    def __init__(self, world: MPI.Comm, rectangles: dict[int, Rectangle], block: int) -> None:
        self.world, self.rectangles, self.block = world, rectangles, block
        own = self.own = rectangles[world.rank]
        self.column = world.Split(own.column, own.place)
        self.rows = slice(own.top * block, (own.top + own.height) * block)
        self.columns = slice(own.left * block, (own.left + own.width) * block)
        self.a, self.b = of_a(self.rows, self.columns), of_b(self.rows, self.columns)
        self.c = np.zeros_like(self.a)
        self.a_part = np.empty((own.height * block, block))
        self.b_part = np.empty((block, own.width * block))

    def communicate(self, k: int) -> None:
        own, block, requests = self.own, self.block, []
        if own.has_column(k):
            at = (k - own.left) * block
            self.a_part[:] = self.a[:, at : at + block]
        for rank, other in self.rectangles.items():
            first, end = own.common_rows(other)
            if other.column == own.column or end <= first:
                continue
            part = self.a_part[(first - own.top) * block : (end - own.top) * block]
            if own.has_column(k):
                requests.append(self.world.Isend(part, rank))
            elif other.has_column(k):
                requests.append(self.world.Irecv(part, rank))
        MPI.Request.Waitall(requests)
        root = next(
            each.place for each in self.rectangles.values() if each.column == own.column and each.has_row(k)
        )
        if root == own.place:
            at = (k - own.top) * block
            self.b_part[:] = self.b[at : at + block]
        self.column.Bcast(self.b_part, root)

    def multiply(self) -> None:
        self.c += self.a_part @ self.b_part

    def is_right(self) -> bool:
        """C equals the plain product."""
        everything = slice(
            0, sum({each.column: each.width for each in self.rectangles.values()}.values()) * self.block
        )
        return bool(np.array_equal(self.c, of_a(self.rows, everything) @ of_b(everything, self.columns)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--partition", required=True, help="a .partition file, or its text")
    parser.add_argument("--block", type=int, default=4, help="rows and columns of a block")
    options = parser.parse_args()

    world = MPI.COMM_WORLD
    path = Path(options.partition)
    rectangles = read_partition(path.read_text(encoding="utf-8") if path.is_file() else options.partition)
    if sorted(rectangles) != list(range(world.size)):
        if world.rank == 0:
            print(f"the partition is for {len(rectangles)} processes, not {world.size}", file=sys.stderr)
        return 2
    kernel = Kernel(world, rectangles, options.block)
    blocks = max(each.left + each.width for each in rectangles.values())
    in_messages = 0.0
    world.Barrier()
    begin = time.perf_counter()
    for k in range(blocks):
        before = time.perf_counter()
        kernel.communicate(k)
        in_messages += time.perf_counter() - before
        kernel.multiply()
    seconds = world.allreduce(time.perf_counter() - begin, MPI.MAX)
    in_messages = world.allreduce(in_messages, MPI.MAX)
    right = world.allreduce(kernel.is_right(), MPI.LAND)
    if world.rank == 0:
        print(json.dumps({"right": right, "seconds": seconds, "in_messages": in_messages}))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
