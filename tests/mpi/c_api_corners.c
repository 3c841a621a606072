/* SPDX-License-Identifier: BSD-3-Clause */
/* The C API before MPI_Init and after MPI_Finalize, and its large-count form between two groups of different size. */
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
  convene_account account;
  convene_footprint footprint;
  expect(convene_use(MPI_COMM_WORLD, "allgather=ring") == MPI_ERR_ARG, when);
  expect(strstr(convene_error(), "initialized") != NULL, convene_error());
  expect(convene_last(MPI_COMM_WORLD, &account) == MPI_ERR_ARG, when);
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

int main(int argc, char** argv) {
  without_mpi("before MPI_Init");
  MPI_Init(&argc, &argv);
  expect(convene_use(MPI_COMM_WORLD, "allgather=ring") == MPI_SUCCESS, "convene_use");
  between_groups();
  int all = 0, rank = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  failures = 0;
  without_mpi("after MPI_Finalize");
  if (rank == 0) printf("%d failures\n", all + failures);
  return all + failures != 0;
}
