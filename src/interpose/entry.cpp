// SPDX-License-Identifier: BSD-3-Clause
// What a program calls instead of its MPI's collectives.
#include "interpose/entry.hpp"

#include "runtime/call/collectives.hpp"

using convene::interpose::HandleWord;
using namespace convene::interpose::entry;

#define ALLGATHER(Count, Displacement)                                                       \
  const void *sendbuf, Count sendcount, HandleWord sendtype, void *recvbuf, Count recvcount, \
      HandleWord recvtype, HandleWord comm
CONVENE_COLLECTIVE(Allgather, allgather, ALLGATHER,
                   (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                   (sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                    comm_of(comm)))

#define ALLGATHERV(Count, Displacement)                                                              \
  const void *sendbuf, Count sendcount, HandleWord sendtype, void *recvbuf, const Count *recvcounts, \
      const Displacement *displs, HandleWord recvtype, HandleWord comm
CONVENE_COLLECTIVE(Allgatherv, allgatherv, ALLGATHERV,
                   (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                   (sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs, type_of(recvtype),
                    comm_of(comm)))

#define GATHER(Count, Displacement)                                                          \
  const void *sendbuf, Count sendcount, HandleWord sendtype, void *recvbuf, Count recvcount, \
      HandleWord recvtype, int root, HandleWord comm
CONVENE_COLLECTIVE(Gather, gather, GATHER,
                   (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                   (sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                    comm_of(comm)))

#define GATHERV(Count, Displacement)                                                                 \
  const void *sendbuf, Count sendcount, HandleWord sendtype, void *recvbuf, const Count *recvcounts, \
      const Displacement *displs, HandleWord recvtype, int root, HandleWord comm
CONVENE_COLLECTIVE(Gatherv, gatherv, GATHERV,
                   (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
                   (sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs, type_of(recvtype),
                    root, comm_of(comm)))

#define SCATTER GATHER
CONVENE_COLLECTIVE(Scatter, scatter, SCATTER,
                   (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                   (sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                    comm_of(comm)))

#define SCATTERV(Count, Displacement)                                                            \
  const void *sendbuf, const Count *sendcounts, const Displacement *displs, HandleWord sendtype, \
      void *recvbuf, Count recvcount, HandleWord recvtype, int root, HandleWord comm
CONVENE_COLLECTIVE(Scatterv, scatterv, SCATTERV,
                   (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
                   (sendbuf, sendcounts, displs, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                    root, comm_of(comm)))

#define BCAST(Count, Displacement) void *buffer, Count count, HandleWord type, int root, HandleWord comm
CONVENE_COLLECTIVE(Bcast, bcast, BCAST, (buffer, count, type, root, comm),
                   (buffer, count, type_of(type), root, comm_of(comm)))

#define ALLTOALL ALLGATHER
CONVENE_COLLECTIVE(Alltoall, alltoall, ALLTOALL,
                   (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                   (sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                    comm_of(comm)))

#define ALLTOALLV(Count, Displacement)                                                            \
  const void *sendbuf, const Count *sendcounts, const Displacement *sdispls, HandleWord sendtype, \
      void *recvbuf, const Count *recvcounts, const Displacement *rdispls, HandleWord recvtype,   \
      HandleWord comm
CONVENE_COLLECTIVE(Alltoallv, alltoallv, ALLTOALLV,
                   (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                   (sendbuf, sendcounts, sdispls, type_of(sendtype), recvbuf, recvcounts, rdispls,
                    type_of(recvtype), comm_of(comm)))

#define NEIGHBOR_ALLGATHER ALLGATHER
CONVENE_COLLECTIVE(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER,
                   (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                   (sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                    comm_of(comm)))

#define NEIGHBOR_ALLGATHERV ALLGATHERV
CONVENE_COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV,
                   (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                   (sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs, type_of(recvtype),
                    comm_of(comm)))

CONVENE_FORMS(Barrier, barrier, , (comm), (comm_of(comm)), HandleWord comm)
