// SPDX-License-Identifier: BSD-3-Clause
// A program to be advised on: advised KIND CALLS BYTES.
//   dominated   one call site takes most of the time: a bcast of BYTES; a few others beside it
//   late        the same, and rank 1 computes for 5 ms before each bcast
//   imbalanced  rank 1 computes for 20 ms before each allgather
//   none        no collectives
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void compute(double seconds) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) * 1e-9 < seconds);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* kind = argc > 1 ? argv[1] : "none";
  const int calls = argc > 2 ? atoi(argv[2]) : 100, bytes = argc > 3 ? atoi(argv[3]) : 1024;
  int rank = 0, procs = 1, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const int is_late = strcmp(kind, "late") == 0, is_dominated = is_late || strcmp(kind, "dominated") == 0;
  char* mine = calloc((size_t)bytes, 1);
  char* all = calloc((size_t)bytes * (size_t)procs, 1);
  for (int call = 0; call < calls; ++call) {
    if (strcmp(kind, "none") == 0) continue;
    if (strcmp(kind, "imbalanced") == 0 && rank == 1) compute(20e-3);
    if (is_late && rank == 1) compute(5e-3);
    if (is_dominated) MPI_Bcast(mine, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (is_dominated && call % 16 != 0) continue;
    MPI_Allgather(mine, 64, MPI_CHAR, all, 64, MPI_CHAR, MPI_COMM_WORLD);
    if (call == calls / 2) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("all right\n");
  free(mine);
  free(all);
  MPI_Finalize();
  return 0;
}
