// SPDX-License-Identifier: BSD-3-Clause
// What a program calls instead of its MPI: the reductions.
#include "interpose/entry.hpp"
#include "mpi/operator.hpp"
#include "runtime/call/reductions.hpp"

using convene::interpose::HandleWord;
using namespace convene::interpose::entry;

#define ALLREDUCE(Count, Displacement) \
  const void *sendbuf, void *recvbuf, Count count, HandleWord type, HandleWord op, HandleWord comm

#define REDUCE(Count, Displacement) \
  const void *sendbuf, void *recvbuf, Count count, HandleWord type, HandleWord op, int root, HandleWord comm
CONVENE_COLLECTIVE(Reduce, reduce, REDUCE, (sendbuf, recvbuf, count, type, op, root, comm),
                   (sendbuf, recvbuf, count, type_of(type), op_of(op), root, comm_of(comm)))

CONVENE_COLLECTIVE(Allreduce, allreduce, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm),
                   (sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))

#define REDUCE_SCATTER(Count, Displacement) \
  const void *sendbuf, void *recvbuf, const Count *recvcounts, HandleWord type, HandleWord op, HandleWord comm
CONVENE_COLLECTIVE(Reduce_scatter, reduce_scatter, REDUCE_SCATTER,
                   (sendbuf, recvbuf, recvcounts, type, op, comm),
                   (sendbuf, recvbuf, recvcounts, type_of(type), op_of(op), comm_of(comm)))

CONVENE_COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, ALLREDUCE,
                   (sendbuf, recvbuf, count, type, op, comm),
                   (sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))

CONVENE_COLLECTIVE(Scan, scan, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm),
                   (sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))

CONVENE_COLLECTIVE(Exscan, exscan, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm),
                   (sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))

CONVENE_ENTRY(Op_free, (MPI_Op * op), (op), HeldOperator::free(op))
