// SPDX-License-Identifier: BSD-3-Clause
// Calls of several signatures in turn, with other buffers: alternating ROUNDS. Prints "all right", or what
// was wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, BUFFERS = 3 };

static int rank, procs, wrong;
static int in[BUFFERS][MOST], out[BUFFERS][MOST * 16];

static void expect(int is_right, const char* what, int round) {
  if (!is_right && wrong++ < 5) printf("rank %d: wrong %s in round %d\n", rank, what, round);
}

static void bcast(int round, int root, int count) {
  int* const data = out[round % BUFFERS];
  for (int i = 0; i < count; ++i) data[i] = rank == root ? round + i : -1;
  MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) expect(data[i] == round + i, "bcast", round);
}

static void allreduce(int round, int count, MPI_Op op) {
  int *const mine = in[round % BUFFERS], *const all = out[(round + 1) % BUFFERS];
  for (int i = 0; i < count; ++i) mine[i] = round + rank + i;
  MPI_Allreduce(mine, all, count, MPI_INT, op, MPI_COMM_WORLD);
  const int ranks = op == MPI_MAX ? 1 : procs, others = op == MPI_MAX ? procs - 1 : procs * (procs - 1) / 2;
  for (int i = 0; i < count; ++i) expect(all[i] == ranks * (round + i) + others, "allreduce", round);
}

/// As many bytes as four integers, but cut at other places.
static void allreduce_doubles(int round) {
  double mine[2] = {round + rank, round - rank}, all[2] = {0, 0};
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const int others = procs * (procs - 1) / 2;
  expect(all[0] == procs * round + others && all[1] == procs * round - others, "allreduce of doubles", round);
}

static void allgather(int round, int count, MPI_Datatype type, int items) {
  int *const mine = in[round % BUFFERS], *const all = out[(round + 1) % BUFFERS];
  for (int i = 0; i < count * items; ++i) mine[i] = round * 100 + rank * 10 + i;
  MPI_Allgather(mine, count, type, all, count, type, MPI_COMM_WORLD);
  for (int r = 0; r < procs; ++r)
    for (int i = 0; i < count * items; ++i)
      expect(all[r * count * items + i] == round * 100 + r * 10 + i, "allgather", round);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  MPI_Datatype row;
  MPI_Type_contiguous(16, MPI_INT, &row);
  MPI_Type_commit(&row);
  for (int round = 0; round < rounds; ++round) {
    bcast(round, round % procs, 2);
    bcast(round, 0, 1 + round % 2);
    allreduce(round, 1, MPI_SUM);
    allreduce(round, 1, MPI_MAX);
    allreduce_doubles(round);
    allreduce(round, 4, MPI_SUM);
    allgather(round, 1, MPI_INT, 1);
    if (round % 2 == 0) allgather(round, 1, row, 16);
    allgather(round, 1, MPI_INT, 1);
    if (round % 8 == 0) {  // a native call may have another form from here on
      MPI_Request request;
      int all[16];
      MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
      allreduce(round, 3, MPI_SUM);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int r = 0; r < procs; ++r) expect(all[r] == r, "iallgather", round);
    }
    if (round % 5 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&row);
  int all_wrong = 0;
  PMPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all_wrong == 0) puts("all right");
  MPI_Finalize();
  return 0;
}
