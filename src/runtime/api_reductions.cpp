// SPDX-License-Identifier: BSD-3-Clause
// The public C functions: reductions.
#include "runtime/api.hpp"
#include "runtime/reductions.hpp"

#define REDUCE(Count, Displacement) \
  const void *sendbuf, void *recvbuf, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm
CONVENE_API_COLLECTIVE(reduce, REDUCE, (sendbuf, recvbuf, count, type, op, root, comm))

#define ALLREDUCE(Count, Displacement) \
  const void *sendbuf, void *recvbuf, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
CONVENE_API_COLLECTIVE(allreduce, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm))
CONVENE_API_COLLECTIVE(reduce_scatter_block, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm))
CONVENE_API_COLLECTIVE(scan, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm))
CONVENE_API_COLLECTIVE(exscan, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm))

#define REDUCE_SCATTER(Count, Displacement) \
  const void *sendbuf, void *recvbuf, const Count recvcounts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
CONVENE_API_COLLECTIVE(reduce_scatter, REDUCE_SCATTER, (sendbuf, recvbuf, recvcounts, type, op, comm))
