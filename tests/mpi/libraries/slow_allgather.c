/* SPDX-License-Identifier: BSD-3-Clause */
/* A PMPI tool that makes the native allgather slow: by SLOW_ALLGATHER microseconds a call. It counts them. */
#include <mpi.h>
#include <stdlib.h>

unsigned long slow_allgather_calls = 0;

int MPI_Allgather(const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, MPI_Comm c) {
  const char* slow = getenv("SLOW_ALLGATHER");
  const double end = PMPI_Wtime() + (slow ? atof(slow) : 0) * 1e-6;
  while (PMPI_Wtime() < end) {
  }
  ++slow_allgather_calls;
  return PMPI_Allgather(in, n, t, out, m, u, c);
}
