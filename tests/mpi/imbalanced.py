# SPDX-License-Identifier: BSD-3-Clause
"""What imbalanced.c does, as an ordinary mpi4py program: one rank always computes longer than the others.

imbalanced.py [CALLS [FLOATS [EXTRA_MS [COMPUTE_MS [allgather|reduce|allreduce [rotating]]]]]]
"""

import sys
import time

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, procs = comm.rank, comm.size
words = [*sys.argv[1:], *("200", "4096", "4", "1", "allgather", "")[len(sys.argv) - 1 :]]
calls, floats = int(words[0]), int(words[1])
extra, compute = float(words[2]), float(words[3])
what, rotates = words[4], words[5] == "rotating"

item = np.arange(floats)
all_ranks = np.arange(procs)[:, np.newaxis]
gathered = np.empty((procs, floats), np.float32)
total = np.empty(floats, np.float32)
inside = 0.0
start = MPI.Wtime()
for call in range(calls):
    late = call % procs if rotates else procs - 1
    time.sleep((compute + (extra if rank == late else 0)) * 1e-3)
    mine = ((call * 7 + rank * 3 + item) % 1024).astype(np.float32)
    before = MPI.Wtime()
    if what == "allreduce":
        comm.Allreduce(mine, total, MPI.SUM)
    elif what == "reduce":
        comm.Reduce(mine, total, MPI.SUM, 0)
    else:
        comm.Allgather(mine, gathered)
    inside += MPI.Wtime() - before
    expected = (call * 7 + all_ranks * 3 + item) % 1024
    if what in ("allreduce", "reduce"):
        is_right = (what == "reduce" and rank > 0) or bool((total == expected.sum(axis=0)).all())
    else:
        is_right = bool((gathered == expected).all())
    if not is_right:
        print(f"FAILED: call {call}, rank {rank}", flush=True)
        comm.Abort(1)
took = MPI.Wtime() - start
mean = comm.reduce(inside / procs)
if rank == 0:
    print(f"{calls} calls, all right: {took:.6f} s in the loop, {mean:.6f} s in the calls on a mean rank")
