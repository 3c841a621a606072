/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in which one rank always computes longer than the others; the results are checked in every call.
 *
 *   imbalanced [CALLS [FLOATS [EXTRA_MS [COMPUTE_MS [COLLECTIVE [rotating|renewing]]]]]]
 *
 * COLLECTIVE is allgather, reduce, allreduce, bcast, gather or scatter. FLOATS are those of each rank, or of
 * the vector; the last rank computes EXTRA_MS longer, or each in turn. With `renewing`, every third call is
 * the last one on its communicator. Prints the duration of the loop. */
#define _DEFAULT_SOURCE /* usleep */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char* a, const char* b) { return strcmp(a, b) == 0; }

/* What a rank contributes. */
static float item(int call, int rank, int i) { return (float)((call * 7 + rank * 3 + i) % 1024); }

static void run(const char* what, float* mine, float* all, int floats, MPI_Comm comm) {
  if (is(what, "allreduce"))
    MPI_Allreduce(mine, all, floats, MPI_FLOAT, MPI_SUM, comm);
  else if (is(what, "reduce"))
    MPI_Reduce(mine, all, floats, MPI_FLOAT, MPI_SUM, 0, comm);
  else if (is(what, "bcast"))
    MPI_Bcast(mine, floats, MPI_FLOAT, 0, comm);
  else if (is(what, "gather"))
    MPI_Gather(mine, floats, MPI_FLOAT, all, floats, MPI_FLOAT, 0, comm);
  else if (is(what, "scatter"))
    MPI_Scatter(all, floats, MPI_FLOAT, mine, floats, MPI_FLOAT, 0, comm);
  else
    MPI_Allgather(mine, floats, MPI_FLOAT, all, floats, MPI_FLOAT, comm);
}

static void expect(float found, float expected, const char* what, int call, int rank, int i) {
  if (found == expected) return;
  printf("FAILED: call %d of %s, rank %d, item %d: %g, not %g\n", call, what, rank, i, found, expected);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(const char* what, const float* mine, const float* all, int floats, int call, int rank,
                  int procs) {
  const int to_root = is(what, "reduce") || is(what, "gather");
  if (to_root && rank != 0) return;
  for (int i = 0; i < floats; ++i) {
    float sum = 0;
    if (is(what, "bcast") || is(what, "scatter")) {
      expect(mine[i], item(call, is(what, "bcast") ? 0 : rank, i), what, call, rank, i);
      continue;
    }
    for (int r = 0; r < procs; ++r) {
      sum += item(call, r, i);
      if (!strstr(what, "reduce"))
        expect(all[(size_t)r * (size_t)floats + (size_t)i], item(call, r, i), what, call, rank, i);
    }
    if (strstr(what, "reduce")) expect(all[i], sum, what, call, rank, i);
  }
}

int main(int argc, char** argv) {
  int rank, procs;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const int calls = argc > 1 ? atoi(argv[1]) : 200, floats = argc > 2 ? atoi(argv[2]) : 4096;
  const double extra = argc > 3 ? atof(argv[3]) : 4, compute = argc > 4 ? atof(argv[4]) : 1;
  const char* const what = argc > 5 ? argv[5] : "allgather";
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
    for (int i = 0; i < floats; ++i) mine[i] = item(call, rank, i);
    if (is(what, "scatter"))
      for (int r = 0; r < procs; ++r)
        for (int i = 0; i < floats; ++i) all[(size_t)r * (size_t)floats + (size_t)i] = item(call, r, i);
    const double before = MPI_Wtime();
    run(what, mine, all, floats, comm);
    inside += MPI_Wtime() - before;
    check(what, mine, all, floats, call, rank, procs);
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
