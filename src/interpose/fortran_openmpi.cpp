// SPDX-License-Identifier: BSD-3-Clause
// The collectives in Fortran under Open MPI; interpose/fortran_openmpi.hpp says why they are here.
#include "execute/mpi.hpp"

#ifdef OPEN_MPI

#include "interpose/fortran_openmpi.hpp"
#include "runtime/collectives.hpp"

namespace convene {
using namespace fortran;

CONVENE_FORTRAN(allgather, ALLGATHER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror),
                allgather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                          type_of(recvtype), comm_of(comm)))
CONVENE_FORTRAN(iallgather, IALLGATHER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror),
                allgather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                          type_of(recvtype), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(allgather_init, ALLGATHER_INIT,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm,
                 const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request, ierror),
                allgather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                          type_of(recvtype), comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(allgatherv, ALLGATHERV,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, ierror),
                allgatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf),
                           recvcounts, displs, type_of(recvtype), comm_of(comm)))
CONVENE_FORTRAN(iallgatherv, IALLGATHERV,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request, ierror),
                allgatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf),
                           recvcounts, displs, type_of(recvtype), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(allgatherv_init, ALLGATHERV_INIT,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request,
                 ierror),
                allgatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf),
                           recvcounts, displs, type_of(recvtype), comm_of(comm),
                           RequestOf(request).form(info)))
CONVENE_FORTRAN(gather, GATHER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, ierror),
                gather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                       type_of(recvtype), *root, comm_of(comm)))
CONVENE_FORTRAN(igather, IGATHER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request, ierror),
                gather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                       type_of(recvtype), *root, comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(gather_init, GATHER_INIT,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request,
                 ierror),
                gather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                       type_of(recvtype), *root, comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(gatherv, GATHERV,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, ierror),
                gatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), recvcounts,
                        displs, type_of(recvtype), *root, comm_of(comm)))
CONVENE_FORTRAN(igatherv, IGATHERV,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request,
                 ierror),
                gatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), recvcounts,
                        displs, type_of(recvtype), *root, comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(gatherv_init, GATHERV_INIT,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
                 request, ierror),
                gatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), recvcounts,
                        displs, type_of(recvtype), *root, comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(scatter, SCATTER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, ierror),
                scatter(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                        type_of(recvtype), *root, comm_of(comm)))
CONVENE_FORTRAN(iscatter, ISCATTER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request, ierror),
                scatter(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                        type_of(recvtype), *root, comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(scatter_init, SCATTER_INIT,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request,
                 ierror),
                scatter(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                        type_of(recvtype), *root, comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(scatterv, SCATTERV,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* displs,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, ierror),
                scatterv(translated(sendbuf), sendcounts, displs, type_of(sendtype), translated(recvbuf),
                         *recvcount, type_of(recvtype), *root, comm_of(comm)))
CONVENE_FORTRAN(iscatterv, ISCATTERV,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* displs,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request,
                 ierror),
                scatterv(translated(sendbuf), sendcounts, displs, type_of(sendtype), translated(recvbuf),
                         *recvcount, type_of(recvtype), *root, comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(scatterv_init, SCATTERV_INIT,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* displs,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
                 request, ierror),
                scatterv(translated(sendbuf), sendcounts, displs, type_of(sendtype), translated(recvbuf),
                         *recvcount, type_of(recvtype), *root, comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(bcast, BCAST,
                (void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* ierror),
                (buffer, count, type, root, comm, ierror),
                bcast(translated(buffer), *count, type_of(type), *root, comm_of(comm)))
CONVENE_FORTRAN(ibcast, IBCAST,
                (void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (buffer, count, type, root, comm, request, ierror),
                bcast(translated(buffer), *count, type_of(type), *root, comm_of(comm),
                      RequestOf(request).form()))
CONVENE_FORTRAN(bcast_init, BCAST_INIT,
                (void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root,
                 const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror),
                (buffer, count, type, root, comm, info, request, ierror),
                bcast(translated(buffer), *count, type_of(type), *root, comm_of(comm),
                      RequestOf(request).form(info)))
CONVENE_FORTRAN(alltoall, ALLTOALL,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror),
                alltoall(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                         type_of(recvtype), comm_of(comm)))
CONVENE_FORTRAN(ialltoall, IALLTOALL,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror),
                alltoall(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                         type_of(recvtype), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(alltoall_init, ALLTOALL_INIT,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm,
                 const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request, ierror),
                alltoall(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                         type_of(recvtype), comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(alltoallv, ALLTOALLV,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* rdispls,
                 const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                 ierror),
                alltoallv(translated(sendbuf), sendcounts, sdispls, type_of(sendtype), translated(recvbuf),
                          recvcounts, rdispls, type_of(recvtype), comm_of(comm)))
CONVENE_FORTRAN(ialltoallv, IALLTOALLV,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* rdispls,
                 const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                 request, ierror),
                alltoallv(translated(sendbuf), sendcounts, sdispls, type_of(sendtype), translated(recvbuf),
                          recvcounts, rdispls, type_of(recvtype), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(alltoallv_init, ALLTOALLV_INIT,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* rdispls,
                 const MPI_Fint* recvtype, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info,
                 request, ierror),
                alltoallv(translated(sendbuf), sendcounts, sdispls, type_of(sendtype), translated(recvbuf),
                          recvcounts, rdispls, type_of(recvtype), comm_of(comm),
                          RequestOf(request).form(info)))
CONVENE_FORTRAN(barrier, BARRIER, (const MPI_Fint* comm, MPI_Fint* ierror), (comm, ierror),
                barrier(comm_of(comm)))
CONVENE_FORTRAN(ibarrier, IBARRIER, (const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (comm, request, ierror), barrier(comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(barrier_init, BARRIER_INIT,
                (const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror),
                (comm, info, request, ierror), barrier(comm_of(comm), RequestOf(request).form(info)))

}  // namespace convene

#endif  // OPEN_MPI
