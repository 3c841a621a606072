# SPDX-License-Identifier: BSD-3-Clause
"""Persistent operations with phases from Python: their results, and what is refused."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from convene import operations
from mpi4py import MPI

RUNS, ITEMS = 3, 400

world = MPI.COMM_WORLD
rank, procs = world.Get_rank(), world.Get_size()


def expect(holds: bool, what: str) -> None:
    if not holds:
        print(f"FAILED: {what} on rank {rank}", flush=True)
        world.Abort(1)


def refused(call: Callable[[], Any]) -> str:
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


def run(operation: operations.Operation, mine: Any, step: int) -> None:
    with operation.phase() as phase:
        time.sleep(0.01 if (rank + step) % procs == 0 else 0.001)
        phase.edge(0.5)
        time.sleep(0.001)
        mine[:] = 100 * step + rank
    operation.start().Wait()


def main() -> None:
    comm = world.Dup()
    counts = [ITEMS * (one % 3) for one in range(procs)]
    mine, everything = np.zeros(ITEMS, np.int32), np.zeros(ITEMS * procs, np.int32)
    own, parts = np.zeros(counts[rank]), np.zeros(sum(counts))
    vector, total = np.zeros(ITEMS), np.zeros(ITEMS)

    operations.expect(comm, [0.001 * one for one in range(procs)])
    operations.expect(comm, None)
    expect("arrivals" in refused(lambda: operations.expect(comm, [0.0] * (procs + 1))), "one rank too many")
    expect("convene_expect" in refused(lambda: operations.expect(comm, [-1.0] * procs)), "a negative time")
    gather = operations.allgather(comm, mine, everything, use="bdr")
    irregular = operations.allgatherv(comm, own, parts, counts, use="list_scheduled")
    reduce = operations.reduce(comm, vector, total, root=procs - 1, use="clairvoyant")
    allreduce = operations.allreduce(comm, vector, total, op=MPI.MAX, use="prr")
    expect("convene_phase_init" in refused(gather.begin), "a phase of an operation without phases")
    for operation in (gather, irregular, reduce, allreduce):
        operation.declare_phases()
    for step in range(RUNS):
        run(gather, mine, step)
        expect(bool(np.all(everything == np.repeat(100 * step + np.arange(procs), ITEMS))), "allgather")
        run(irregular, own, step)
        expect(bool(np.all(parts == np.repeat(100.0 * step + np.arange(procs), counts))), "allgatherv")
        run(reduce, vector, step)
        sum_of_all = procs * 100 * step + procs * (procs - 1) / 2
        expect(rank != procs - 1 or bool(np.all(total == sum_of_all)), "reduce")
        run(allreduce, vector, step)
        expect(bool(np.all(total == 100 * step + procs - 1)), "allreduce")
    expect("edge" in refused(lambda: gather.edge(0.5)), "an edge outside a phase")
    for operation in (gather, irregular, reduce, allreduce):
        operation.free()

    expect("items" in refused(lambda: operations.allgather(comm, mine, everything[:-1])), "a wrong size")
    wrong = everything.astype(np.int64)
    expect("int64" in refused(lambda: operations.allgather(comm, mine, wrong)), "two types")
    swapped = vector.astype(vector.dtype.newbyteorder())
    expect("no type" in refused(lambda: operations.allreduce(comm, swapped, swapped.copy())), "a byte order")
    short = [one + 1 for one in counts]
    expect(
        "this rank" in refused(lambda: operations.allgatherv(comm, own, np.zeros(sum(short)), short)),
        "counts",
    )
    everything.flags.writeable = False
    expect("read-only" in refused(lambda: operations.allgather(comm, mine, everything)), "a constant")
    everything.flags.writeable = True
    expect("contiguous" in refused(lambda: operations.allreduce(comm, vector[::2], total[::2])), "a stride")
    expect(
        "no_such" in refused(lambda: operations.allgather(comm, mine, everything, use="no_such")), "a name"
    )
    if rank == 0:
        print("operations from Python: done")


if __name__ == "__main__":
    main()
