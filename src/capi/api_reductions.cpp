// SPDX-License-Identifier: BSD-3-Clause
// The public C functions: reductions.
#include "capi/api.hpp"
#include "runtime/call/reductions.hpp"

using convene::capi::PublicComm;
using convene::capi::PublicOp;
using convene::capi::PublicType;

#define REDUCE(Count, Displacement) \
  const void *sendbuf, void *recvbuf, Count count, PublicType type, PublicOp op, int root, PublicComm comm
CONVENE_API_COLLECTIVE(reduce, REDUCE, (sendbuf, recvbuf, count, type, op, root, comm))

#define ALLREDUCE(Count, Displacement) \
  const void *sendbuf, void *recvbuf, Count count, PublicType type, PublicOp op, PublicComm comm
CONVENE_API_COLLECTIVE(allreduce, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm))
CONVENE_API_COLLECTIVE(reduce_scatter_block, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm))
CONVENE_API_COLLECTIVE(scan, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm))
CONVENE_API_COLLECTIVE(exscan, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm))

#define REDUCE_SCATTER(Count, Displacement) \
  const void *sendbuf, void *recvbuf, const Count recvcounts[], PublicType type, PublicOp op, PublicComm comm
CONVENE_API_COLLECTIVE(reduce_scatter, REDUCE_SCATTER, (sendbuf, recvbuf, recvcounts, type, op, comm))
