/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of MPI_ calls that are completed by PMPI_ functions, each of them, and receives that need the
 * progress of an outstanding one. With "tool" by the MPI_ functions, for tests/mpi/libraries/wraps_waits.c.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 64 };
static int rank, procs, wrong;
static MPI_Status statuses[2]; /* MPI_STATUSES_IGNORE: a warning with MPICH 4 and GCC */

static MPI_Request begin(int* all) {
  MPI_Request request;
  for (int i = 0; i < procs; ++i) all[i] = -1;
  MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
  return request;
}
static void check(const int* all) {
  for (int i = 0; i < procs; ++i) wrong += all[i] != i;
}

static void by_pmpi(void) {
  int all[most], index = 0, count = 0, done = 0;
  for (int way = 0; way < 9; ++way) {
    MPI_Request request = begin(all);
    switch (way) {
      case 0:
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
      case 1:
        PMPI_Waitall(1, &request, statuses);
        break;
      case 2:
        PMPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
        break;
      case 3:
        PMPI_Waitsome(1, &request, &count, &index, statuses);
        break;
      case 4:
        for (done = 0; !done;) PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        break;
      case 5:
        for (done = 0; !done;) PMPI_Testall(1, &request, &done, statuses);
        break;
      case 6:
        for (done = 0; !done;) PMPI_Testany(1, &request, &index, &done, MPI_STATUS_IGNORE);
        break;
      case 7:
        for (count = 0; count == 0;) PMPI_Testsome(1, &request, &count, &index, statuses);
        break;
      default:
        for (done = 0; !done;) PMPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check(all);
  }
  /* What the others send after their own collective. */
  MPI_Request request = begin(all);
  int word = 0;
  if (rank == 0) {
    for (int other = 1; other < procs; ++other)
      PMPI_Recv(&word, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    PMPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  }
  check(all);
}

static void by_mpi(void) {
  int all[2][most], word = 0, done = 0;
  MPI_Request requests[2] = {begin(all[0]), begin(all[1])};
  MPI_Waitall(2, requests, statuses);
  check(all[0]), check(all[1]);
  requests[0] = begin(all[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  check(all[0]);
  requests[0] = begin(all[0]);
  while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  check(all[0]);
  requests[0] = begin(all[0]);
  if (rank == 0) {
    for (int other = 1; other < procs; ++other)
      MPI_Recv(&word, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  }
  check(all[0]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc > 1 && strcmp(argv[1], "tool") == 0)
    by_mpi();
  else
    by_pmpi();
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", all == 0 ? "all right" : "wrong");
  MPI_Finalize();
  return all != 0;
}
