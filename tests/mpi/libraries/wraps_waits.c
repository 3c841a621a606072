/* SPDX-License-Identifier: BSD-3-Clause */
/* A PMPI tool that wraps some of the calls that complete requests, and none that starts one. */
#include <mpi.h>

int MPI_Wait(MPI_Request* request, MPI_Status* status) { return PMPI_Wait(request, status); }
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return PMPI_Waitall(count, requests, statuses);
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) { return PMPI_Test(request, done, status); }
int MPI_Recv(void* at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return PMPI_Recv(at, count, type, from, tag, comm, status);
}
