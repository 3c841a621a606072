/* SPDX-License-Identifier: BSD-3-Clause */
/* Expected arrivals of blocking calls (convene_expect): results are correct with any forecast, for
 * punctual ranks and others; new forecasts give new schedules; invalid times are rejected.
 *
 *   expected USES [disagreeing]       disagreeing: rank 1 expects others than rank 0 */
#include <convene/convene.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { items = 3000 };

static int rank, procs, failures;
static MPI_Comm comm;
static long *mine, *all, *result;

static void check(int holds, const char* what) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "wrong on rank %d: %s\n", rank, what);
}

static void wait_for(double seconds) {
  const double start = MPI_Wtime();
  while (MPI_Wtime() - start < seconds) {
  }
}

static size_t cached(void) {
  convene_footprint footprint = {0};
  check(convene_memory(comm, &footprint) == MPI_SUCCESS, "convene_memory");
  return footprint.cached;
}

/* All blocks are those of this step. */
static void calls(int step, int root) {
  MPI_Request request;
  for (int i = 0; i < items; ++i) mine[i] = 1000L * step + 10L * rank + i;
  check(convene_allgather(mine, items, MPI_LONG, all, items, MPI_LONG, comm) == MPI_SUCCESS, "allgather");
  for (int r = 0; r < procs; ++r)
    for (int i = 0; i < items; i += 97)
      check(all[r * items + i] == 1000L * step + 10L * r + i, "what was gathered");
  memset(all, 0, sizeof(long) * items * (size_t)procs);
  check(convene_gather(mine, items, MPI_LONG, all, items, MPI_LONG, root, comm) == MPI_SUCCESS, "gather");
  for (int r = 0; r < procs && rank == root; ++r)
    check(all[r * items + 5] == 1000L * step + 10L * r + 5, "what the root gathered");
  for (int r = 0; r < procs; ++r) all[r * items + 7] = step + r;
  check(convene_scatter(all, items, MPI_LONG, result, items, MPI_LONG, root, comm) == MPI_SUCCESS, "scatter");
  check(result[7] == step + rank, "what was scattered");
  check(convene_reduce(mine, result, items, MPI_LONG, MPI_SUM, root, comm) == MPI_SUCCESS, "reduce");
  const long ranks = 10L * procs * (procs - 1) / 2;
  for (int i = 0; i < items && rank == root; i += 97)
    check(result[i] == procs * (1000L * step + i) + ranks, "the sum");
  check(convene_allreduce(mine, result, items, MPI_LONG, MPI_SUM, comm) == MPI_SUCCESS, "allreduce");
  check(result[items - 1] == procs * (1000L * step + items - 1) + ranks, "the sum on all ranks");
  for (int i = 0; i < items; ++i) result[i] = rank == root ? mine[i] : -1;
  check(convene_bcast(result, items, MPI_LONG, root, comm) == MPI_SUCCESS, "bcast");
  check(result[3] == 1000L * step + 10L * root + 3, "what was broadcast");
  check(convene_barrier(comm) == MPI_SUCCESS, "barrier");
  /* Non-blocking calls run as for balanced arrivals. */
  check(convene_iallgather(mine, items, MPI_LONG, all, items, MPI_LONG, comm, &request) == MPI_SUCCESS,
        "iallgather");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(all[(procs - 1) * items] == 1000L * step + 10L * (procs - 1), "what was gathered in the background");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &procs);
  mine = malloc(sizeof(long) * items);
  all = malloc(sizeof(long) * items * (size_t)procs);
  result = malloc(sizeof(long) * items);
  double* seconds = calloc((size_t)procs, sizeof(double));
  check(convene_use(comm, argc > 1 ? argv[1] : "allgather=bdr,reduce=clairvoyant") == MPI_SUCCESS,
        convene_error());

  if (argc > 2) {
    seconds[0] = rank == 1 ? 1 : 0;
    check(convene_expect(comm, seconds) == MPI_SUCCESS, "convene_expect");
    calls(0, 0);
  }
  calls(0, 0);
  const size_t balanced = cached();
  for (int r = 0; r < procs; ++r) seconds[r] = r == procs - 1 ? 0.02 : 0;
  check(convene_expect(comm, seconds) == MPI_SUCCESS, "convene_expect");
  wait_for(seconds[rank]);
  calls(1, 0);
  const size_t foreseen = cached();
  check(procs == 1 || foreseen > balanced, "schedules were made of the forecast");
  check(convene_expect(comm, seconds) == MPI_SUCCESS, "convene_expect again");
  calls(2, 0); /* a wrong forecast */
  check(cached() == foreseen, "a forecast that is not new makes no schedules");

  srand(7);
  for (int step = 3; step < 15; ++step) {
    for (int r = 0; r < procs; ++r) seconds[r] = rand() % 5 == 0 ? 3600.0 : 1e-5 * (rand() % 500);
    check(convene_expect(comm, seconds) == MPI_SUCCESS, "a forecast of this step");
    if (step % 3 == rank % 3) wait_for(1e-3);
    calls(step, step % procs);
  }
  check(convene_expect(comm, NULL) == MPI_SUCCESS, "unknown arrivals");
  calls(15, procs - 1);

  const double wrong[] = {-1, NAN, INFINITY, 1e30};
  for (int i = 0; i < 4; ++i) {
    seconds[procs - 1] = wrong[i];
    check(convene_expect(comm, seconds) == MPI_ERR_ARG, "what is no time");
    check(strstr(convene_error(), "convene_expect") != NULL, convene_error());
  }
  calls(16, 0);

  int anywhere = 0;
  MPI_Allreduce(&failures, &anywhere, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0) printf("expected arrivals: %d failures\n", anywhere);
  free(seconds);
  free(result);
  free(all);
  free(mine);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return anywhere != 0;
}
