/* SPDX-License-Identifier: BSD-3-Clause */
/* The C API: a choice per communicator, the record of the last call, the error of a wrong choice, the
 * memory in use. */
#include <convene/convene.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "wrong: %s\n", what);
}

static void gather(MPI_Comm comm, int count) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* mine = malloc(sizeof(int) * (size_t)(count + 1));
  int* all = malloc(sizeof(int) * (size_t)(count * size + 1));
  for (int i = 0; i < count; ++i) mine[i] = 1000 * rank + i;
  expect(convene_allgather(mine, count, MPI_INT, all, count, MPI_INT, comm) == MPI_SUCCESS,
         "convene_allgather");
  for (int i = 0; i < count * size; ++i) expect(all[i] == 1000 * (i / count) + i % count, "what came");
  expect(convene_allgather_c(mine, count, MPI_INT, all, count, MPI_INT, comm) == MPI_SUCCESS,
         "convene_allgather_c");
  free(all);
  free(mine);
}

static void choices(void) {
  MPI_Comm comm;
  convene_call_stats stats;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  expect(convene_last(comm, &stats) == MPI_ERR_ARG, "a last call before the first");
  gather(comm, 3);
  expect(convene_last(comm, &stats) == MPI_SUCCESS && strcmp(stats.algorithm, "native") == 0,
         "native by default");
  expect(convene_use(comm, "allgather=sparbit;send=packed,allgatherv=ring") == MPI_SUCCESS, "convene_use");
  gather(comm, 3);
  expect(convene_last(comm, &stats) == MPI_SUCCESS, "convene_last");
  expect(strcmp(stats.algorithm, "sparbit;send=packed") == 0, stats.algorithm);
  expect(strcmp(stats.reason, "forced") == 0, stats.reason);
  expect(stats.seconds > 0 && stats.seconds < 60, "the time of a call");
  expect(convene_use(comm, "allgather=sparbitt") == MPI_ERR_ARG, "an unknown algorithm");
  expect(strstr(convene_error(), "sparbitt") && strstr(convene_error(), "sparbit"), convene_error());
  expect(convene_use(comm, NULL) == MPI_ERR_ARG, "no text");
  gather(comm, 4);
  expect(convene_last(comm, &stats) == MPI_SUCCESS && strcmp(stats.algorithm, "sparbit;send=packed") == 0,
         "a wrong choice left everything as it was");
  expect(convene_use(comm, "barrier=dissemination") == MPI_SUCCESS, "convene_use");
  for (int i = 0; i < 3; ++i) expect(convene_barrier(comm) == MPI_SUCCESS, "convene_barrier");
  expect(convene_last(comm, &stats) == MPI_SUCCESS && strcmp(stats.algorithm, "dissemination") == 0,
         "a barrier");
  int one = 1, counts[64], places[64], ones[64];
  int size;
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < size; ++i) counts[i] = 1, places[i] = i;
  convene_allgatherv(&one, 1, MPI_INT, ones, counts, places, MPI_INT, comm);
  expect(convene_last(comm, &stats) == MPI_SUCCESS && strcmp(stats.algorithm, "native") == 0,
         "another collective behind it");
  expect(convene_barrier(comm) == MPI_SUCCESS, "the barrier again");
  expect(convene_last(comm, &stats) == MPI_SUCCESS && strcmp(stats.algorithm, "dissemination") == 0,
         "which took the short way");
  MPI_Comm_free(&comm);
}

static void memory(void) {
  MPI_Comm comm;
  convene_footprint none, one;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  convene_use(comm, "allgather=native");
  gather(comm, 1);
  expect(convene_memory(comm, &none) == MPI_SUCCESS && !none.has_communicator,
         "native needs no communicator");
  expect(none.communicator <= 1470, "a handle of at most 1,470 bytes with native calls");
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  convene_use(comm, "allgather=sparbit");
  gather(comm, 1);
  expect(convene_memory(comm, &one) == MPI_SUCCESS && one.communicator <= 2545,
         "a handle of at most 2,545 bytes with an algorithm of Convene's");
  gather(comm, 5);
  gather(comm, 100);
  expect(convene_memory(comm, &one) == MPI_SUCCESS, "convene_memory");
  expect(one.has_communicator == 1, "a communicator of its own");
  expect(one.cached >= 1 && one.schedules > 0, "a cached schedule");
  printf("handle %zu then %zu bytes, %zu schedules of %zu bytes\n", none.communicator, one.communicator,
         one.cached, one.schedules);
  expect(one.communicator <= 4096, "a handle of at most 4 KiB");
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  convene_footprint footprint;
  expect(strlen(convene_version()) >= 5, "convene_version");
  MPI_Init(&argc, &argv);
  expect(convene_memory(MPI_COMM_NULL, &footprint) == MPI_ERR_ARG, "no communicator");
  choices();
  memory();
  int all = 0, rank = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%d failures\n", all);
  MPI_Finalize();
  return all != 0;
}
