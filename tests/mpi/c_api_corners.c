/* SPDX-License-Identifier: BSD-3-Clause */
/* The C API before MPI_Init and after MPI_Finalize, and its large-count form between two groups of
 * different size. */
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

static void without_mpi(const char* when) {
  convene_call_stats stats;
  convene_footprint footprint;
  expect(convene_use(MPI_COMM_WORLD, "allgather=ring") == MPI_ERR_ARG, when);
  expect(strstr(convene_error(), "initialized") != NULL, convene_error());
  expect(convene_expect(MPI_COMM_WORLD, NULL) == MPI_ERR_ARG, when);
  expect(convene_last(MPI_COMM_WORLD, &stats) == MPI_ERR_ARG, when);
  expect(convene_memory(MPI_COMM_WORLD, &footprint) == MPI_ERR_ARG, when);
}

/* Rank 0 on the one side, all others on the other: each gathers from the other side. */
static void between_groups(void) {
  int rank, remote;
  MPI_Comm mine, both;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &both);
  MPI_Comm_remote_size(both, &remote);
  MPI_Count* counts = malloc(sizeof(MPI_Count) * (size_t)remote);
  MPI_Aint* places = malloc(sizeof(MPI_Aint) * (size_t)remote);
  int* all = malloc(sizeof(int) * (size_t)remote);
  for (int i = 0; i < remote; ++i) counts[i] = 1, places[i] = remote - 1 - i, all[i] = -1;
  expect(convene_allgatherv_c(&rank, 1, MPI_INT, all, counts, places, MPI_INT, both) == MPI_SUCCESS,
         "convene_allgatherv_c between groups");
  for (int i = 0; i < remote; ++i) expect(all[remote - 1 - i] == (rank == 0 ? i + 1 : 0), "what came");
  free(all);
  free(places);
  free(counts);
  MPI_Comm_free(&both);
  MPI_Comm_free(&mine);
}

/* With a null pointer for the request or the operation, nothing is called. */
static void no_place(void) {
  int mine = 0, procs = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  int* all = malloc(sizeof(int) * (size_t)procs);
  expect(convene_iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, NULL) == MPI_ERR_ARG,
         "no place for a request");
  expect(strstr(convene_error(), "convene_iallgather needs a pointer to a request") != NULL, convene_error());
  expect(convene_allgather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, NULL) == MPI_ERR_ARG,
         "no place for an operation");
  expect(strstr(convene_error(), "convene_allgather_init needs a pointer to an operation") != NULL,
         convene_error());
  MPI_Request request;
  convene_operation none = NULL;
  expect(convene_start(NULL, &request) == MPI_ERR_ARG, "a start of nothing");
  expect(strstr(convene_error(), "convene_start needs an operation") != NULL, convene_error());
  expect(convene_free(&none) == MPI_ERR_ARG, "nothing is freed");
  expect(strstr(convene_error(), "convene_free needs an operation") != NULL, convene_error());
  free(all);
}

/* A program may free its datatype as soon as an operation is made of it, also of a native one. */
static void freed_type(void) {
  int rank = 0, procs = 1, mine[2], *all;
  MPI_Datatype pair, other;
  MPI_Request request;
  convene_operation operation;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  all = malloc(sizeof(int) * 2 * (size_t)procs);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  expect(convene_allgather_init(mine, 1, pair, all, 1, pair, MPI_COMM_WORLD, &operation) == MPI_SUCCESS,
         "init");
  MPI_Type_free(&pair);
  MPI_Type_contiguous(3, MPI_CHAR, &other); /* may reuse the handle */
  MPI_Type_commit(&other);
  for (int run = 0; run < 3; ++run) {
    mine[0] = 10 * rank + run, mine[1] = -mine[0];
    expect(convene_start(operation, &request) == MPI_SUCCESS, "a start with a type that was freed");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < procs; ++i) expect(all[2 * i + 1] == -(10 * i + run), "what came");
  }
  convene_free(&operation);
  MPI_Type_free(&other);
  free(all);
}

/* Away from the root, arguments that are significant only at the root must not be read. */
static void only_at_the_root(void) {
  int rank = 0, procs = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  int all[16] = {0};
  MPI_Count ones[16];
  MPI_Aint places[16];
  for (int i = 0; i < 16; ++i) {
    ones[i] = 1;
    places[i] = i;
  }
  const MPI_Count* counts = rank == 0 ? ones : (const MPI_Count*)8;
  const MPI_Aint* at = rank == 0 ? places : (const MPI_Aint*)8;
  expect(convene_gatherv_c(&rank, 1, MPI_INT, all, counts, at, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS,
         "gatherv with wild counts");
  for (int i = 0; i < procs && rank == 0; ++i) expect(all[i] == i, "what was gathered");
  const MPI_Count count = rank == 0 ? 1 : (MPI_Count)1 << 40;
  expect(convene_gather_c(&rank, 1, MPI_INT, all, count, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS,
         "gather with a wild count");
}

int main(int argc, char** argv) {
  without_mpi("before MPI_Init");
  MPI_Init(&argc, &argv);
  expect(convene_use(MPI_COMM_WORLD, "allgather=ring") == MPI_SUCCESS, "convene_use");
  between_groups();
  no_place();
  freed_type();
  only_at_the_root();
  int all = 0, rank = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  failures = 0;
  without_mpi("after MPI_Finalize");
  if (rank == 0) printf("%d failures\n", all + failures);
  return all + failures != 0;
}
