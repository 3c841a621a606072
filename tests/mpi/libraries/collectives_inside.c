/* SPDX-License-Identifier: BSD-3-Clause */
/* A PMPI tool that calls collectives from inside one: before each allgather of the program it broadcasts
 * vectors of many sizes by MPI_Bcast, which is Convene's in front of it. */
#include <mpi.h>

int MPI_Allgather(const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, MPI_Comm c) {
  static char vector[64];
  for (int bytes = 1; bytes <= 40; ++bytes) MPI_Bcast(vector, bytes, MPI_BYTE, 0, c);
  return PMPI_Allgather(in, n, t, out, m, u, c);
}
