/* SPDX-License-Identifier: BSD-3-Clause */
/* Legal programs in which ranks are in different calls at a time, or make different calls of equal
 * meaning: one rank may know of earlier calls that others do not know of. Received data is checked.
 *
 *   apart ahead       ranks are some 128 broadcasts ahead of one that sums their earlier contributions
 *   apart items       reductions of equal size in one large and in many small items, in place at the root
 *   apart improbe     rank 0 probes for a message that follows an allgather that it has started
 *   apart expect      gathers of many sizes, some in place at the root, with expected arrivals (libconvene)
 *   apart runtimes    a pending allgather of libconvene progresses in a blocking one of the drop-in */
#define _DEFAULT_SOURCE /* usleep */
#include <convene/convene.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, procs;

static void check(int holds, const char* what) {
  if (holds) return;
  printf("FAILED: %s on rank %d\n", what, rank);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void reduce(void) {
  int sum = 0;
  MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  check(rank != 0 || sum == procs * (procs - 1) / 2, "a sum");
}

static void broadcast(char* bytes, int count, int value) {
  if (rank == procs - 1) memset(bytes, value, (size_t)count);
  MPI_Bcast(bytes, count, MPI_CHAR, procs - 1, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) check(bytes[i] == value, "a broadcast");
}

static void run_ahead(void) {
  static char bytes[19200];
  for (int between = 125; between < 130; ++between) {
    reduce();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) usleep(300000);
    reduce();
    for (int i = 0; i < between; ++i) broadcast(bytes, 4, i % 100);
    broadcast(bytes, sizeof bytes, between % 100);
  }
}

enum { large = 1 << 20 };

static void add_large(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (size_t i = 0; i < (size_t)*count * large; ++i)
    ((unsigned char*)inout)[i] = (unsigned char)(((unsigned char*)inout)[i] + ((unsigned char*)in)[i]);
}

static void reduce_items(void) {
  unsigned char *mine = malloc(large), *sum = malloc(large);
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(large, MPI_UNSIGNED_CHAR, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_large, 1, &op);
  const unsigned char expected = (unsigned char)(procs * (procs + 1) / 2);
  for (int turn = 0; turn < 6; ++turn) {
    const int in_place = turn % 3 == 1;
    memset(rank == 0 && in_place ? sum : mine, rank + 1, large);
    const void* from = rank == 0 && in_place ? MPI_IN_PLACE : mine;
    if (turn % 2 == 0)
      MPI_Reduce(from, sum, 1, type, op, 0, MPI_COMM_WORLD);
    else
      MPI_Reduce(from, sum, large, MPI_UNSIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < large; ++i) check(sum[i] == expected, "a sum of large items");
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  free(mine);
  free(sum);
}

static void improbe(void) {
  int token = 7, found = 0, *all = malloc(sizeof(int) * (size_t)procs);
  MPI_Request request;
  MPI_Message message;
  if (rank != 0) usleep(100000);
  MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
  while (rank == 0 && !found) MPI_Improbe(1, 3, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Mrecv(&token, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  for (int i = 0; i < procs; ++i) check(all[i] == i, "an allgather");
  free(all);
}

static void gather(int count, int in_place) {
  int *mine = malloc(sizeof(int) * (size_t)count), *all = malloc(sizeof(int) * (size_t)(count * procs));
  for (int i = 0; i < count; ++i) mine[i] = all[i] = 1000 * rank + i;
  const void* from = rank == 0 && in_place ? MPI_IN_PLACE : mine;
  convene_gather(from, count, MPI_INT, all, count, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < count * procs; ++i)
    check(all[i] == 1000 * (i / count) + i % count, "a gather");
  free(mine);
  free(all);
}

static void expect(void) {
  double* seconds = calloc((size_t)procs, sizeof(double));
  seconds[procs - 1] = 0.001;
  check(convene_use(MPI_COMM_WORLD, "gather=sls") == MPI_SUCCESS, "convene_use");
  check(convene_expect(MPI_COMM_WORLD, seconds) == MPI_SUCCESS, "convene_expect");
  for (int i = 1; i <= 16; ++i) gather(1000 * i, 0);
  gather(16000, 1);
  const int then[] = {17, 1, 3, 18, 3};
  for (int i = 0; i < 5; ++i) gather(1000 * then[i], 0);
  free(seconds);
}

static void run_both(void) {
  int *first = malloc(sizeof(int) * (size_t)procs), *second = malloc(sizeof(int) * (size_t)procs);
  MPI_Request request;
  convene_account account;
  check(convene_iallgather(&rank, 1, MPI_INT, first, 1, MPI_INT, MPI_COMM_WORLD, &request) == MPI_SUCCESS,
        "an allgather that begins");
  if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allgather(&rank, 1, MPI_INT, second, 1, MPI_INT, MPI_COMM_WORLD);
  check(convene_last(MPI_COMM_WORLD, &account) == MPI_SUCCESS && strstr(account.algorithm, "bruck"),
        "what convene_last() knows of a call through the drop-in library");
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < procs; ++i) check(first[i] == i && second[i] == i, "an allgather");
  free(first);
  free(second);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const char* const what = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    void (*run)(void);
  } known[] = {{"ahead", run_ahead},
               {"items", reduce_items},
               {"improbe", improbe},
               {"expect", expect},
               {"runtimes", run_both}};
  for (int i = 0; i < 5; ++i)
    if (strcmp(what, known[i].name) == 0) known[i].run();
  if (rank == 0) printf("apart: right\n");
  MPI_Finalize();
  return 0;
}
