/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in which one rank always computes longer than the others; the gathered data and the sums are
 * checked in every call.
 *
 *   imbalanced [CALLS [FLOATS [EXTRA_MS [COMPUTE_MS [allgather|reduce|allreduce [rotating|renewing]]]]]]
 *
 * FLOATS are gathered from each rank, or summed; the last rank computes EXTRA_MS longer, or each in turn.
 * With `renewing`, every third call is the last one on its communicator. Prints the duration of the loop. */
#define _DEFAULT_SOURCE /* usleep */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, procs;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const int calls = argc > 1 ? atoi(argv[1]) : 200, floats = argc > 2 ? atoi(argv[2]) : 4096;
  const double extra = argc > 3 ? atof(argv[3]) : 4, compute = argc > 4 ? atof(argv[4]) : 1;
  const char* const what = argc > 5 ? argv[5] : "allgather";
  const int everywhere = strcmp(what, "allreduce") == 0, reduces = everywhere || strcmp(what, "reduce") == 0;
  const int rotates = argc > 6 && strcmp(argv[6], "rotating") == 0;
  const int renews = argc > 6 && strcmp(argv[6], "renewing") == 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  float* mine = malloc(sizeof(float) * (size_t)floats);
  float* all = malloc(sizeof(float) * (size_t)floats * (size_t)procs);
  const double start = MPI_Wtime();
  double inside = 0;
  for (int call = 0; call < calls; ++call) {
    if (renews && call % 3 == 0) {
      if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    const int late = rotates ? call % procs : procs - 1;
    if (compute + extra > 0) usleep((useconds_t)(1000 * (compute + (rank == late ? extra : 0))));
    for (int i = 0; i < floats; ++i) mine[i] = (float)((call * 7 + rank * 3 + i) % 1024);
    const double before = MPI_Wtime();
    if (everywhere)
      MPI_Allreduce(mine, all, floats, MPI_FLOAT, MPI_SUM, comm);
    else if (reduces)
      MPI_Reduce(mine, all, floats, MPI_FLOAT, MPI_SUM, 0, comm);
    else
      MPI_Allgather(mine, floats, MPI_FLOAT, all, floats, MPI_FLOAT, comm);
    inside += MPI_Wtime() - before;
    for (int i = 0; i < floats && (!reduces || everywhere || rank == 0); ++i) {
      float sum = 0;
      for (int r = 0; r < procs; ++r) {
        const float expected = (float)((call * 7 + r * 3 + i) % 1024);
        sum += expected;
        if (!reduces && all[(size_t)r * (size_t)floats + (size_t)i] != expected) {
          printf("FAILED: call %d, rank %d, item %d of rank %d\n", call, rank, i, r);
          MPI_Abort(MPI_COMM_WORLD, 1);
        }
      }
      if (reduces && all[i] != sum) {
        printf("FAILED: call %d, the sum of item %d\n", call, i);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
  const double took = MPI_Wtime() - start;
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  double sum = 0;
  MPI_Reduce(&inside, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d calls, all right: %.6f s in the loop, %.6f s in the calls on a mean rank\n", calls, took,
           sum / procs);
  free(mine);
  free(all);
  MPI_Finalize();
  return 0;
}
