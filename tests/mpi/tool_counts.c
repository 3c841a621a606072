/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a known number of calls of each function, for tests/mpi/libraries/count_calls.c. */
#include <mpi.h>
#include <stdio.h>

static int rank, size;

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
  if (wrong == 0 && rank == 0) printf("all right\n");
  MPI_Finalize();
  return wrong != 0;
}
