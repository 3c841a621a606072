/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in which a rank dies, or exits, among collectives:
 *
 *   dies_within killed   the last rank is killed after a while
 *   dies_within exits    the last rank calls exit(3) without MPI_Finalize
 *   dies_within aborts   the last rank calls MPI_Abort
 *   dies_within late     the last rank is killed while the others are in MPI_Finalize
 *
 * The other ranks continue with collectives: the launcher ends them. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, procs;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  int own = rank;
  int* all = malloc(sizeof(int) * (size_t)procs);
  if (strcmp(argv[1], "late") == 0) {
    MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    if (rank < procs - 1) return MPI_Finalize();
    sleep(5); /* the others write what they know */
    raise(SIGKILL);
  }
  for (int i = 0;; ++i) {
    MPI_Request request;
    MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    if (i == 200 && rank == procs - 1) {
      if (strcmp(argv[1], "killed") == 0) raise(SIGKILL);
      if (strcmp(argv[1], "exits") == 0) exit(3);
      MPI_Abort(MPI_COMM_WORLD, 4);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  }
}
