/* SPDX-License-Identifier: BSD-3-Clause */
/* Legal programs that hang if a non-blocking collective progresses only in its own wait. An ordinary MPI
 * program, for two ranks: allgather takes one round there, and the ranks synchronise by messages.
 *
 *   legal_programs
 *
 * With more ranks, the others only take part in the collectives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, procs;

static void fail(const char* what) {
  printf("FAILED: %s on rank %d\n", what, rank);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(const int* gathered, const char* what) {
  for (int i = 0; i < procs; ++i)
    if (gathered[i] != 100 + i) fail(what);
}

/* Rank 0 waits in a receive for a message that rank 1 sends after completing its own collective. */
static void receive_between(MPI_Comm comm) {
  int own = 100 + rank, token = 7;
  int* gathered = malloc(sizeof(int) * (size_t)procs);
  MPI_Request request;
  memset(gathered, 0, sizeof(int) * (size_t)procs);
  MPI_Iallgather(&own, 1, MPI_INT, gathered, 1, MPI_INT, comm, &request);
  if (rank == 0 && procs > 1) MPI_Recv(&token, 1, MPI_INT, procs - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == procs - 1 && procs > 1) MPI_Send(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  check(gathered, "receive between start and wait");
  free(gathered);
}

/* The same with a blocking collective in between, on another communicator and on the same one. */
static void collective_between(MPI_Comm comm, MPI_Comm other) {
  int own = 100 + rank, sum = 0;
  int* gathered = malloc(sizeof(int) * (size_t)procs);
  int* again = malloc(sizeof(int) * (size_t)procs);
  MPI_Request request;
  MPI_Iallgather(&own, 1, MPI_INT, gathered, 1, MPI_INT, comm, &request);
  if (rank == 0) MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, other);
  if (rank == 0) MPI_Allgather(&own, 1, MPI_INT, again, 1, MPI_INT, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank != 0) MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, other);
  if (rank != 0) MPI_Allgather(&own, 1, MPI_INT, again, 1, MPI_INT, comm);
  check(gathered, "a reduction between start and wait");
  check(again, "a blocking collective beside a non-blocking one");
  if (sum != 100 * procs + procs * (procs - 1) / 2) fail("the sum");
  free(gathered);
  free(again);
}

/* The same with the first blocking collective on another communicator, for which Convene has to set up, in
 * between. */
static void first_call_between(void) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int own = 100 + rank;
  int* gathered = malloc(sizeof(int) * (size_t)procs);
  int* again = malloc(sizeof(int) * (size_t)procs);
  MPI_Request request;
  MPI_Iallgather(&own, 1, MPI_INT, gathered, 1, MPI_INT, MPI_COMM_WORLD, &request);
  if (rank == 0) MPI_Allgather(&own, 1, MPI_INT, again, 1, MPI_INT, other);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank != 0) MPI_Allgather(&own, 1, MPI_INT, again, 1, MPI_INT, other);
  check(gathered, "a first collective between start and wait");
  check(again, "a first collective beside a non-blocking one");
  free(gathered);
  free(again);
  MPI_Comm_free(&other);
}

/* A communicator is freed while a collective on it is pending; and rank 0 waits in a probe. */
static void freed_while_pending(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Status status;
  int own = 100 + rank, token = 1;
  int* gathered = malloc(sizeof(int) * (size_t)procs);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Iallgather(&own, 1, MPI_INT, gathered, 1, MPI_INT, comm, &request);
  MPI_Comm_free(&comm);
  if (rank == 0 && procs > 1) {
    MPI_Probe(procs - 1, 4, MPI_COMM_WORLD, &status);
    MPI_Recv(&token, 1, MPI_INT, procs - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == procs - 1 && procs > 1) MPI_Send(&token, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  check(gathered, "a communicator freed with a pending request");
  free(gathered);
}

/* Each collective as the first, non-blocking call on a communicator, while another rank waits in a
 * receive. */
static void first_call_is_non_blocking(void) {
  for (int times = 0; times < 3; ++times) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    receive_between(comm);
    MPI_Comm_free(&comm);
  }
}

/* A large message that its receiver requests between short collectives, while its sender has no call to
 * wait in. */
static void ask_between_collectives(void) {
  const int bytes = 4 << 20, last = procs - 1;
  char* message = calloc((size_t)bytes, 1);
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  if (rank == 0 && procs > 1) MPI_Isend(message, bytes, MPI_CHAR, last, 4, MPI_COMM_WORLD, &request);
  if (rank == last && procs > 1) MPI_Irecv(message, bytes, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &request);
  while (!done) {
    if (rank == last) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Bcast(&done, 1, MPI_INT, last, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(message);
}

int main(int argc, char** argv) {
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  first_call_is_non_blocking();
  for (int times = 0; times < 20; ++times) receive_between(MPI_COMM_WORLD);
  for (int times = 0; times < 20; ++times) collective_between(MPI_COMM_WORLD, MPI_COMM_WORLD);
#ifdef OPEN_MPI /* elsewhere the native blocking collectives on other communicators do not progress it \
                 */
  for (int times = 0; times < 20; ++times) collective_between(MPI_COMM_WORLD, other);
#endif
  for (int times = 0; times < 5; ++times) freed_while_pending();
  for (int times = 0; times < 5; ++times) first_call_between();
  for (int times = 0; times < 5; ++times) ask_between_collectives();
  MPI_Comm_free(&other);
  if (rank == 0) printf("all legal programs have ended\n");
  MPI_Finalize();
  return 0;
}
