# SPDX-License-Identifier: BSD-3-Clause
"""A program of unequal work that declares its phases: mpi4py, with Convene's C library called through ctypes.

    CONVENE_PROGRESS_THREAD=1 mpirun -n 4 python phases.py build/lib/libconvene-openmpi.so bdr

In each step one rank, not always the same one, works longer than the others. Prints how long a rank is in the
allgather, in the mean.
"""

import ctypes
import sys
import time
from typing import Any

import numpy as np
from mpi4py import MPI

STEPS, ITEMS = 12, 20_000
WORK, EXTRA = 0.01, 0.04  # seconds: of each rank, and of the one that is late


def handle(thing: Any, kind: Any) -> Any:
    """The C handle of an mpi4py object, by value."""
    word = ctypes.c_int if MPI._sizeof(kind) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p
    return word.from_address(MPI._addressof(thing))


def pointer(array: "np.ndarray[Any, Any]") -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Phased:
    """An allgather of doubles with phases before it."""

    def __init__(self, path: str, algorithm: str, comm: MPI.Comm, mine: Any, everything: Any) -> None:
        self.library = ctypes.CDLL(path)
        self.library.convene_error.restype = ctypes.c_char_p
        self.operation = ctypes.c_void_p()
        own, double = handle(comm, MPI.Comm), handle(MPI.DOUBLE, MPI.Datatype)
        self.check(self.library.convene_use(own, f"allgather={algorithm}".encode()))
        sides = (pointer(mine), mine.size, double, pointer(everything), mine.size, double)
        self.check(self.library.convene_allgather_init(*sides, own, ctypes.byref(self.operation)))
        self.check(self.library.convene_phase_init(self.operation, ctypes.c_double(0)))

    def check(self, code: int) -> None:
        if code != MPI.SUCCESS:
            raise ValueError(self.library.convene_error().decode())

    def begin(self) -> None:
        self.check(self.library.convene_phase_begin(self.operation))

    def edge(self, fraction: float) -> None:
        self.check(self.library.convene_phase_edge(self.operation, ctypes.c_double(fraction)))

    def end(self) -> None:
        self.check(self.library.convene_phase_end(self.operation))

    def gather(self) -> None:
        request = MPI.Request()
        address = ctypes.c_void_p(MPI._addressof(request))
        self.check(self.library.convene_start(self.operation, address))
        request.Wait()

    def free(self) -> None:
        self.check(self.library.convene_free(ctypes.byref(self.operation)))


def main() -> None:
    path, algorithm = sys.argv[1:3]
    comm = MPI.COMM_WORLD.Dup()
    rank, procs = comm.Get_rank(), comm.Get_size()
    mine, everything = np.zeros(ITEMS), np.zeros(procs * ITEMS)
    phased = Phased(path, algorithm, comm, mine, everything)
    waited = 0.0
    for step in range(STEPS):
        work = WORK + (EXTRA if (step + rank) % procs == 0 else 0)
        phased.begin()
        time.sleep(work / 2)
        phased.edge(0.5)
        time.sleep(work / 2)
        mine[:] = 1000 * step + rank
        phased.end()
        start = MPI.Wtime()
        phased.gather()
        waited += MPI.Wtime() - start
        expected = np.repeat(1000.0 * step + np.arange(procs), ITEMS)
        if not np.array_equal(everything, expected):
            print(f"step {step}: rank {rank} has not got what the others sent")
            comm.Abort(1)
    mean = comm.allreduce(waited) / procs / STEPS
    if rank == 0:
        print(f"allgather by {algorithm}: {procs} ranks, all right; {mean * 1e3:.2f} ms in the call")
    phased.free()


if __name__ == "__main__":
    main()
