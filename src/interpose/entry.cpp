// SPDX-License-Identifier: BSD-3-Clause
// What a program calls instead of its MPI.
#include "interpose/entry.hpp"

#include "runtime/collectives.hpp"

using convene::comm_of;
using convene::Form;
using convene::HandleWord;
using convene::type_of;

CONVENE_ENTRY(Allgather,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, int recvcount,
               HandleWord recvtype, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
              allgather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                        comm_of(comm)))
CONVENE_ENTRY(Iallgather,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, int recvcount,
               HandleWord recvtype, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request),
              allgather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                        comm_of(comm), Form{request}))
CONVENE_ENTRY(Allgatherv,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, const int* recvcounts,
               const int* displs, HandleWord recvtype, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
              allgatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs,
                         type_of(recvtype), comm_of(comm)))
CONVENE_ENTRY(Iallgatherv,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, const int* recvcounts,
               const int* displs, HandleWord recvtype, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request),
              allgatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs,
                         type_of(recvtype), comm_of(comm), Form{request}))
CONVENE_ENTRY(Gather,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, int recvcount,
               HandleWord recvtype, int root, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
              gather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                     comm_of(comm)))
CONVENE_ENTRY(Igather,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, int recvcount,
               HandleWord recvtype, int root, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
              gather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                     comm_of(comm), Form{request}))
CONVENE_ENTRY(Gatherv,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, const int* recvcounts,
               const int* displs, HandleWord recvtype, int root, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
              gatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs, type_of(recvtype),
                      root, comm_of(comm)))
CONVENE_ENTRY(Igatherv,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, const int* recvcounts,
               const int* displs, HandleWord recvtype, int root, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request),
              gatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs, type_of(recvtype),
                      root, comm_of(comm), Form{request}))
CONVENE_ENTRY(Scatter,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, int recvcount,
               HandleWord recvtype, int root, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
              scatter(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                      comm_of(comm)))
CONVENE_ENTRY(Iscatter,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, int recvcount,
               HandleWord recvtype, int root, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
              scatter(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                      comm_of(comm), Form{request}))
CONVENE_ENTRY(Scatterv,
              (const void* sendbuf, const int* sendcounts, const int* displs, HandleWord sendtype,
               void* recvbuf, int recvcount, HandleWord recvtype, int root, HandleWord comm),
              (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
              scatterv(sendbuf, sendcounts, displs, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                       root, comm_of(comm)))
CONVENE_ENTRY(Iscatterv,
              (const void* sendbuf, const int* sendcounts, const int* displs, HandleWord sendtype,
               void* recvbuf, int recvcount, HandleWord recvtype, int root, HandleWord comm,
               MPI_Request* request),
              (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
              scatterv(sendbuf, sendcounts, displs, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                       root, comm_of(comm), Form{request}))
CONVENE_ENTRY(Bcast, (void* buffer, int count, HandleWord type, int root, HandleWord comm),
              (buffer, count, type, root, comm), bcast(buffer, count, type_of(type), root, comm_of(comm)))
CONVENE_ENTRY(Ibcast,
              (void* buffer, int count, HandleWord type, int root, HandleWord comm, MPI_Request* request),
              (buffer, count, type, root, comm, request),
              bcast(buffer, count, type_of(type), root, comm_of(comm), Form{request}))
CONVENE_ENTRY(Alltoall,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, int recvcount,
               HandleWord recvtype, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
              alltoall(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                       comm_of(comm)))
CONVENE_ENTRY(Ialltoall,
              (const void* sendbuf, int sendcount, HandleWord sendtype, void* recvbuf, int recvcount,
               HandleWord recvtype, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request),
              alltoall(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                       comm_of(comm), Form{request}))
CONVENE_ENTRY(Alltoallv,
              (const void* sendbuf, const int* sendcounts, const int* sdispls, HandleWord sendtype,
               void* recvbuf, const int* recvcounts, const int* rdispls, HandleWord recvtype,
               HandleWord comm),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
              alltoallv(sendbuf, sendcounts, sdispls, type_of(sendtype), recvbuf, recvcounts, rdispls,
                        type_of(recvtype), comm_of(comm)))
CONVENE_ENTRY(Ialltoallv,
              (const void* sendbuf, const int* sendcounts, const int* sdispls, HandleWord sendtype,
               void* recvbuf, const int* recvcounts, const int* rdispls, HandleWord recvtype, HandleWord comm,
               MPI_Request* request),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request),
              alltoallv(sendbuf, sendcounts, sdispls, type_of(sendtype), recvbuf, recvcounts, rdispls,
                        type_of(recvtype), comm_of(comm), Form{request}))
CONVENE_ENTRY(Barrier, (HandleWord comm), (comm), barrier(comm_of(comm)))
CONVENE_ENTRY(Ibarrier, (HandleWord comm, MPI_Request* request), (comm, request),
              barrier(comm_of(comm), Form{request}))

#if MPI_VERSION >= 4

CONVENE_ENTRY(Allgather_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               MPI_Count recvcount, HandleWord recvtype, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
              allgather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                        comm_of(comm)))
CONVENE_ENTRY(Iallgather_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               MPI_Count recvcount, HandleWord recvtype, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request),
              allgather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                        comm_of(comm), Form{request}))
CONVENE_ENTRY(Allgatherv_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               const MPI_Count* recvcounts, const MPI_Aint* displs, HandleWord recvtype, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
              allgatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs,
                         type_of(recvtype), comm_of(comm)))
CONVENE_ENTRY(Iallgatherv_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               const MPI_Count* recvcounts, const MPI_Aint* displs, HandleWord recvtype, HandleWord comm,
               MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request),
              allgatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs,
                         type_of(recvtype), comm_of(comm), Form{request}))
CONVENE_ENTRY(Gather_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               MPI_Count recvcount, HandleWord recvtype, int root, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
              gather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                     comm_of(comm)))
CONVENE_ENTRY(Igather_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               MPI_Count recvcount, HandleWord recvtype, int root, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
              gather(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                     comm_of(comm), Form{request}))
CONVENE_ENTRY(Gatherv_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               const MPI_Count* recvcounts, const MPI_Aint* displs, HandleWord recvtype, int root,
               HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
              gatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs, type_of(recvtype),
                      root, comm_of(comm)))
CONVENE_ENTRY(Igatherv_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               const MPI_Count* recvcounts, const MPI_Aint* displs, HandleWord recvtype, int root,
               HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request),
              gatherv(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs, type_of(recvtype),
                      root, comm_of(comm), Form{request}))
CONVENE_ENTRY(Scatter_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               MPI_Count recvcount, HandleWord recvtype, int root, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
              scatter(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                      comm_of(comm)))
CONVENE_ENTRY(Iscatter_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               MPI_Count recvcount, HandleWord recvtype, int root, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
              scatter(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype), root,
                      comm_of(comm), Form{request}))
CONVENE_ENTRY(Scatterv_c,
              (const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, HandleWord sendtype,
               void* recvbuf, MPI_Count recvcount, HandleWord recvtype, int root, HandleWord comm),
              (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
              scatterv(sendbuf, sendcounts, displs, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                       root, comm_of(comm)))
CONVENE_ENTRY(Iscatterv_c,
              (const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, HandleWord sendtype,
               void* recvbuf, MPI_Count recvcount, HandleWord recvtype, int root, HandleWord comm,
               MPI_Request* request),
              (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request),
              scatterv(sendbuf, sendcounts, displs, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                       root, comm_of(comm), Form{request}))
CONVENE_ENTRY(Bcast_c, (void* buffer, MPI_Count count, HandleWord type, int root, HandleWord comm),
              (buffer, count, type, root, comm), bcast(buffer, count, type_of(type), root, comm_of(comm)))
CONVENE_ENTRY(Ibcast_c,
              (void* buffer, MPI_Count count, HandleWord type, int root, HandleWord comm,
               MPI_Request* request),
              (buffer, count, type, root, comm, request),
              bcast(buffer, count, type_of(type), root, comm_of(comm), Form{request}))
CONVENE_ENTRY(Alltoall_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               MPI_Count recvcount, HandleWord recvtype, HandleWord comm),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
              alltoall(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                       comm_of(comm)))
CONVENE_ENTRY(Ialltoall_c,
              (const void* sendbuf, MPI_Count sendcount, HandleWord sendtype, void* recvbuf,
               MPI_Count recvcount, HandleWord recvtype, HandleWord comm, MPI_Request* request),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request),
              alltoall(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                       comm_of(comm), Form{request}))
CONVENE_ENTRY(Alltoallv_c,
              (const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, HandleWord sendtype,
               void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, HandleWord recvtype,
               HandleWord comm),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
              alltoallv(sendbuf, sendcounts, sdispls, type_of(sendtype), recvbuf, recvcounts, rdispls,
                        type_of(recvtype), comm_of(comm)))
CONVENE_ENTRY(Ialltoallv_c,
              (const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, HandleWord sendtype,
               void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, HandleWord recvtype,
               HandleWord comm, MPI_Request* request),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request),
              alltoallv(sendbuf, sendcounts, sdispls, type_of(sendtype), recvbuf, recvcounts, rdispls,
                        type_of(recvtype), comm_of(comm), Form{request}))

#endif
