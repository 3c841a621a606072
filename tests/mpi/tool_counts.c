/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a known number of calls of each function, for tests/mpi/libraries/count_calls.c. */
#include <mpi.h>
#include <stdio.h>

static int rank, size;

static void nothing(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)in, (void)out, (void)count, (void)type;
}

static void messages(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int out = rank, in = -1;
  MPI_Request requests[2];
  MPI_Status status, statuses[2];
  MPI_Sendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(&in, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
  }
  if (rank == 0) MPI_Send(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
  MPI_Probe(previous, 3, MPI_COMM_WORLD, &status);
  MPI_Recv(&in, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, &status);
  if (rank != 0) MPI_Send(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
}

/* The other functions that pass through, each once or as often as stated. */
static void others(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int out = rank, in = -1, index = 0, indices[2], count = 0, done = 0;
  MPI_Request requests[2], persistent;
  MPI_Status status, statuses[2];
  MPI_Message message;
  MPI_Comm made;
  MPI_Op op;
#define BEGIN                                                            \
  MPI_Irecv(&in, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, &requests[0]); \
  MPI_Isend(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[1])
  BEGIN;
  for (int i = 0; i < 2; ++i) MPI_Waitany(2, requests, &index, &status);
  BEGIN;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Testall(2, requests, &done, statuses);
  MPI_Testany(2, requests, &index, &done, &status);
  MPI_Testsome(2, requests, &count, indices, statuses);
  MPI_Waitsome(2, requests, &count, indices, statuses);
  MPI_Waitall(2, requests, statuses);
  MPI_Irecv(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &persistent);
  MPI_Start(&persistent);
  MPI_Request_get_status(persistent, &done, &status);
  MPI_Wait(&persistent, &status);
  MPI_Wait(&requests[0], &status);
  MPI_Irecv(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Startall(1, &persistent);
  MPI_Wait(&persistent, &status);
  MPI_Wait(&requests[0], &status);
  MPI_Request_free(&persistent);
  if (rank == 0) MPI_Ssend(&out, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
  MPI_Mprobe(previous, 6, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
  if (rank != 0) MPI_Ssend(&out, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
  MPI_Iprobe(previous, 9, MPI_COMM_WORLD, &done, &status);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_free(&made);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
  MPI_Comm_free(&made);
  MPI_Op_create(nothing, 1, &op);
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  int mine = 1, sum = 0, all[16], wrong = 0, done = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 5; ++i) {
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int other = 0; other < size; ++other) wrong += all[other] != other;
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != size;
  }
  MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) {
    MPI_Request request;
    MPI_Status status;
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    if (i < 3) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      MPI_Waitall(1, &request, &status);
    }
  }
  messages();
  others();
  if (wrong == 0 && rank == 0) printf("all right\n");
  MPI_Finalize();
  return wrong != 0;
}
