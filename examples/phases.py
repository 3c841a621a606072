# SPDX-License-Identifier: BSD-3-Clause
"""A program of unequal work that declares its phases, with mpi4py.

    CONVENE_PROGRESS_THREAD=1 mpirun -n 4 python phases.py bdr

In each step one rank, not always the same one, works longer than the others. Prints how long a rank is in the
allgather, in the mean.
"""

import sys
import time

import numpy as np
from convene import operations
from mpi4py import MPI

STEPS, ITEMS = 12, 20_000
WORK, EXTRA = 0.01, 0.04  # seconds: of each rank, and of the one that is late


def main() -> None:
    (algorithm,) = sys.argv[1:]
    comm = MPI.COMM_WORLD.Dup()
    rank, procs = comm.Get_rank(), comm.Get_size()
    mine, everything = np.zeros(ITEMS), np.zeros(procs * ITEMS)
    gather = operations.allgather(comm, mine, everything, use=algorithm)
    gather.declare_phases()
    waited = 0.0
    for step in range(STEPS):
        work = WORK + (EXTRA if (step + rank) % procs == 0 else 0)
        with gather.phase() as phase:
            time.sleep(work / 2)
            phase.edge(0.5)
            time.sleep(work / 2)
            mine[:] = 1000 * step + rank
        start = MPI.Wtime()
        gather.start().Wait()
        waited += MPI.Wtime() - start
        expected = np.repeat(1000.0 * step + np.arange(procs), ITEMS)
        if not np.array_equal(everything, expected):
            print(f"step {step}: rank {rank} has not got what the others sent")
            comm.Abort(1)
    mean = comm.allreduce(waited) / procs / STEPS
    if rank == 0:
        print(f"allgather by {algorithm}: {procs} ranks, all right; {mean * 1e3:.2f} ms in the call")
    gather.free()


if __name__ == "__main__":
    main()
