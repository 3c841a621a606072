// SPDX-License-Identifier: BSD-3-Clause
// The collectives in Fortran under Open MPI; interpose/fortran/fortran_openmpi.hpp says why they are here.
#include "mpi/functions.hpp"

#ifdef OPEN_MPI

#include "interpose/fortran/fortran_openmpi.hpp"
#include "runtime/call/collectives.hpp"

namespace convene::interpose {
using namespace fortran;

// What several collectives have alike.
#define CONVENE_OF_ALL(name, NAME)                                                                      \
  CONVENE_FORTRAN_FORMS(name, NAME, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), \
                        (translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf),       \
                         *recvcount, type_of(recvtype), comm_of(comm)),                                 \
                        const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype,       \
                        void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,             \
                        const MPI_Fint* comm)
#define CONVENE_OF_ALL_V(name, NAME)                                                                \
  CONVENE_FORTRAN_FORMS(                                                                            \
      name, NAME, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),      \
      (translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), recvcounts, displs, \
       type_of(recvtype), comm_of(comm)),                                                           \
      const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,      \
      const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype, const MPI_Fint* comm)
#define CONVENE_ROOTED(name, NAME)                                                             \
  CONVENE_FORTRAN_FORMS(                                                                       \
      name, NAME, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),    \
      (translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,    \
       type_of(recvtype), *root, comm_of(comm)),                                               \
      const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf, \
      const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root, const MPI_Fint* comm)

CONVENE_OF_ALL(allgather, ALLGATHER)
CONVENE_OF_ALL_V(allgatherv, ALLGATHERV)
CONVENE_ROOTED(gather, GATHER)
CONVENE_FORTRAN_FORMS(gatherv, GATHERV,
                      (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
                      (translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), recvcounts,
                       displs, type_of(recvtype), *root, comm_of(comm)),
                      const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                      const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                      const MPI_Fint* root, const MPI_Fint* comm)
CONVENE_ROOTED(scatter, SCATTER)
CONVENE_FORTRAN_FORMS(scatterv, SCATTERV,
                      (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
                      (translated(sendbuf), sendcounts, displs, type_of(sendtype), translated(recvbuf),
                       *recvcount, type_of(recvtype), *root, comm_of(comm)),
                      const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* displs,
                      const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcount,
                      const MPI_Fint* recvtype, const MPI_Fint* root, const MPI_Fint* comm)
CONVENE_FORTRAN_FORMS(bcast, BCAST, (buffer, count, type, root, comm),
                      (translated(buffer), *count, type_of(type), *root, comm_of(comm)), void* buffer,
                      const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root, const MPI_Fint* comm)
CONVENE_OF_ALL(alltoall, ALLTOALL)
CONVENE_FORTRAN_FORMS(alltoallv, ALLTOALLV,
                      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                      (translated(sendbuf), sendcounts, sdispls, type_of(sendtype), translated(recvbuf),
                       recvcounts, rdispls, type_of(recvtype), comm_of(comm)),
                      const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                      const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcounts,
                      const MPI_Fint* rdispls, const MPI_Fint* recvtype, const MPI_Fint* comm)
CONVENE_OF_ALL(neighbor_allgather, NEIGHBOR_ALLGATHER)
CONVENE_OF_ALL_V(neighbor_allgatherv, NEIGHBOR_ALLGATHERV)
CONVENE_FORTRAN_FORMS(barrier, BARRIER, (comm), (comm_of(comm)), const MPI_Fint* comm)

#undef CONVENE_OF_ALL
#undef CONVENE_OF_ALL_V
#undef CONVENE_ROOTED

}  // namespace convene::interpose

#endif  // OPEN_MPI
