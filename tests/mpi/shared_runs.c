/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives of many sizes in turn on several communicators, with a late rank that others do not
 * wait for: shared_runs ROUNDS [killed]. Received data is checked. Communicators are freed, and MPI_Finalize
 * is called, by ranks that are calls ahead. With `killed`, the last rank is killed after a third of
 * the rounds, among calls. */
#define _DEFAULT_SOURCE /* usleep */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { communicators = 3, largest = 150000, calls = 75, rooted_calls = 14 };

static const int sizes[] = {8, 1, 56, 57, 8, 16, 300, 4096, 56, 20000, 8, 0, largest};

static int world_rank, world_procs;
static unsigned state = 1;

/* The same numbers on all ranks. */
static unsigned number(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 12) % below;
}

/* Small: some MPIs add bytes with saturation. */
static unsigned char value(int call, int from, int byte) {
  return (unsigned char)((call * 7 + from * 31 + byte) % 50);
}

static void check(int holds, const char* what, int call, int size) {
  if (holds) return;
  printf("FAILED: %s of %d bytes, call %d on rank %d\n", what, size, call, world_rank);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(unsigned char* bytes, int size, int call, int from) {
  for (int i = 0; i < size; ++i) bytes[i] = value(call, from, i);
}

static int is_filled(const unsigned char* bytes, int size, int call, int from) {
  for (int i = 0; i < size; ++i)
    if (bytes[i] != value(call, from, i)) return 0;
  return 1;
}

/* The sum of what all ranks filled in. */
static int is_sum(const unsigned char* bytes, int size, int call, int procs) {
  for (int i = 0; i < size; ++i) {
    unsigned sum = 0;
    for (int from = 0; from < procs; ++from) sum += value(call, from, i);
    if (bytes[i] != (unsigned char)sum) return 0;
  }
  return 1;
}

static void broadcast(MPI_Comm comm, int call, int size, int root) {
  static unsigned char bytes[largest];
  int rank;
  MPI_Comm_rank(comm, &rank);
  memset(bytes, 0xaa, (size_t)size);
  if (rank == root) fill(bytes, size, call, root);
  MPI_Bcast(bytes, size, MPI_BYTE, root, comm);
  check(is_filled(bytes, size, call, root), "bcast", call, size);
}

/* Block `to` of a rank differs from its others. */
static void exchange(MPI_Comm comm, int call, int size) {
  int rank, procs;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &procs);
  unsigned char* const out = malloc((size_t)size * (size_t)procs + 1);
  unsigned char* const in = malloc((size_t)size * (size_t)procs + 1);
  for (int to = 0; to < procs; ++to) fill(out + (size_t)to * (size_t)size, size, call + to, rank);
  memset(in, 0xaa, (size_t)size * (size_t)procs);
  MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, comm);
  for (int from = 0; from < procs; ++from)
    check(is_filled(in + (size_t)from * (size_t)size, size, call + rank, from), "alltoall", call, size);
  free(out);
  free(in);
}

/* Bytes of a rank's block: some are 0; one is larger than the others; one rank alone has data. */
static int unequal(int call, int size, int rank, int procs) {
  const int is_chosen = rank == call / 3 % procs;
  switch (call % 3) {
    case 0:
      return (rank + call) % 3 == 0 ? 0 : size / (1 + rank % 2);
    case 1:
      return is_chosen ? size : size / 50;
    default:
      return is_chosen ? size : 0;
  }
}

/* Blocks of unequal sizes, a gap behind each. */
struct blocks {
  int number, *counts, *at;
  unsigned char* bytes;
};

static struct blocks new_blocks(int call, int size, int procs) {
  struct blocks all = {procs, malloc((size_t)procs * sizeof(int)), malloc((size_t)procs * sizeof(int)), NULL};
  int next = 0;
  for (int i = 0; i < procs; ++i) {
    all.counts[i] = unequal(call, size, i, procs);
    all.at[i] = next;
    next += all.counts[i] + 1;
  }
  all.bytes = malloc((size_t)next);
  memset(all.bytes, 0xaa, (size_t)next);
  return all;
}

static void free_blocks(struct blocks all) {
  free(all.counts);
  free(all.at);
  free(all.bytes);
}

static void check_blocks(struct blocks all, const char* what, int call, int size) {
  for (int i = 0; i < all.number; ++i) {
    const unsigned char* const block = all.bytes + all.at[i];
    check(is_filled(block, all.counts[i], call, i) && block[all.counts[i]] == 0xaa, what, call, size);
  }
}

static void unequal_collective(MPI_Comm comm, int call, int size, int kind, int root, unsigned char* mine) {
  int rank, procs;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &procs);
  struct blocks all = new_blocks(call, size, procs);
  const int own = all.counts[rank];
  switch (kind) {
    case 0:
      MPI_Allgatherv(mine, own, MPI_BYTE, all.bytes, all.counts, all.at, MPI_BYTE, comm);
      check_blocks(all, "allgatherv", call, size);
      break;
    case 1:
      MPI_Gatherv(mine, own, MPI_BYTE, all.bytes, all.counts, all.at, MPI_BYTE, root, comm);
      if (rank == root) check_blocks(all, "gatherv", call, size);
      break;
    case 2:
      for (int to = 0; to < procs; ++to) fill(all.bytes + all.at[to], all.counts[to], call, to);
      memset(mine, 0xaa, (size_t)size);
      MPI_Scatterv(all.bytes, all.counts, all.at, MPI_BYTE, mine, own, MPI_BYTE, root, comm);
      check(is_filled(mine, own, call, rank), "scatterv", call, size);
      break;
    default: { /* the block from a to b is as large as that of rank a + b, modulo P, above */
      struct blocks out = new_blocks(call, size, procs);
      int sent = 0, received = 0;
      for (int i = 0; i < procs; ++i) {
        all.counts[i] = out.counts[i] = unequal(call, size, (rank + i) % procs, procs);
        out.at[i] = sent;
        all.at[i] = received;
        sent += out.counts[i];
        received += all.counts[i] + 1;
      }
      for (int to = 0; to < procs; ++to) fill(out.bytes + out.at[to], out.counts[to], call, rank);
      MPI_Alltoallv(out.bytes, out.counts, out.at, MPI_BYTE, all.bytes, all.counts, all.at, MPI_BYTE, comm);
      check_blocks(all, "alltoallv", call, size);
      free_blocks(out);
    }
  }
  free_blocks(all);
}

static void collective(MPI_Comm comm, int call, int size, unsigned kind, unsigned any) {
  static unsigned char mine[largest], sum[largest];
  int rank, procs;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &procs);
  const int root = (int)(any % (unsigned)procs);
  unsigned char* all = NULL;
  fill(mine, size, call, rank);
  switch (kind) {
    case 0:
      broadcast(comm, call, size, root);
      break;
    case 1:
      all = malloc((size_t)size * (size_t)procs + 1);
      MPI_Allgather(mine, size, MPI_BYTE, all, size, MPI_BYTE, comm);
      for (int from = 0; from < procs; ++from)
        check(is_filled(all + (size_t)from * (size_t)size, size, call, from), "allgather", call, size);
      free(all);
      break;
    case 2:
      MPI_Allreduce(mine, sum, size, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
      check(is_sum(sum, size, call, procs), "allreduce", call, size);
      break;
    case 3:
      MPI_Allreduce(MPI_IN_PLACE, mine, size, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
      check(is_sum(mine, size, call, procs), "allreduce in place", call, size);
      break;
    case 4:
      MPI_Reduce(mine, sum, size, MPI_UNSIGNED_CHAR, MPI_SUM, root, comm);
      check(rank != root || is_sum(sum, size, call, procs), "reduce", call, size);
      break;
    case 5:
      all = malloc((size_t)size * (size_t)procs + 1);
      MPI_Gather(mine, size, MPI_BYTE, all, size, MPI_BYTE, root, comm);
      for (int from = 0; rank == root && from < procs; ++from)
        check(is_filled(all + (size_t)from * (size_t)size, size, call, from), "gather", call, size);
      free(all);
      break;
    case 6:
      all = malloc((size_t)size * (size_t)procs + 1);
      for (int to = 0; to < procs; ++to) fill(all + (size_t)to * (size_t)size, size, call, to);
      memset(sum, 0xaa, (size_t)size);
      MPI_Scatter(all, size, MPI_BYTE, sum, size, MPI_BYTE, root, comm);
      check(is_filled(sum, size, call, rank), "scatter", call, size);
      free(all);
      break;
    case 7:
      exchange(comm, call, size);
      break;
    case 8:
      all = malloc((size_t)size * (size_t)procs + 1);
      for (int to = 0; to < procs; ++to) fill(all + (size_t)to * (size_t)size, size, call + to, rank);
      MPI_Reduce_scatter_block(all, sum, size, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
      check(is_sum(sum, size, call + rank, procs), "reduce_scatter_block", call, size);
      free(all);
      break;
    case 9:
      MPI_Scan(mine, sum, size, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
      check(is_sum(sum, size, call, rank + 1), "scan", call, size);
      break;
    case 10:
      MPI_Exscan(mine, sum, size, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
      check(rank == 0 || is_sum(sum, size, call, rank), "exscan", call, size);
      break;
    case 11:
    case 12:
    case 13:
    case 14:
      unequal_collective(comm, call, size, (int)kind - 11, root, mine);
      break;
    default:
      MPI_Barrier(comm);
  }
}

static void run_round(int round, int late, int is_killed) {
  MPI_Comm comms[communicators];
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comms[2]);
  for (int i = 0; i < calls; ++i) {
    const unsigned kind = number(16), which = number(communicators), any = number(64);
    const int size = sizes[number(sizeof sizes / sizeof *sizes)];
    if (i % 10 == 0 && world_rank == late) usleep(2000);
    if (is_killed && i == calls / 2) raise(SIGKILL);
    collective(comms[which], round * 100 + i, size, kind, any);
  }
  /* Only the late rank waits for the root in these. */
  const int root = (late + 1) % world_procs;
  if (world_rank == late) usleep(3000);
  for (int i = 0; i < rooted_calls; ++i) broadcast(comms[0], round * 100 + calls + i, sizes[i % 6], root);
  for (int i = 0; i < communicators; ++i) MPI_Comm_free(&comms[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_procs);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  const int is_killed = argc > 2 && strcmp(argv[2], "killed") == 0;
  for (int round = 0; round < rounds; ++round) {
    run_round(round, round % world_procs, is_killed && round == rounds / 3 && world_rank == world_procs - 1);
    if (round == 0 && world_rank == 0) printf("first round right\n");
    fflush(stdout);
  }
  if (world_rank == 0) printf("%d rounds, all right\n", rounds);
  /* The others are in MPI_Finalize when the last rank reads these. */
  broadcast(MPI_COMM_WORLD, 0, 8, 0);
  if (world_rank == world_procs - 1) usleep(20000);
  for (int i = 1; i <= rooted_calls; ++i) broadcast(MPI_COMM_WORLD, i, sizes[i % 6], 0);
  MPI_Finalize();
  return 0;
}
