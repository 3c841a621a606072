// SPDX-License-Identifier: BSD-3-Clause
// An attribute copy callback that runs collectives on its communicator, whose first call is non-blocking: the
// callback runs while the library duplicates the communicator.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kinds = 24 };

static int calls = 0;

// Collectives of many signatures, so that all per-signature tables grow.
static int copy(MPI_Comm comm, int keyval, void* extra, void* value, void* copied, int* flag) {
  (void)keyval, (void)extra, (void)value, (void)copied;
  int rank = 0, procs = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &procs);
  for (int count = 1; count <= kinds; ++count) {
    int* mine = malloc(sizeof(int) * (size_t)count);
    int* all = malloc(sizeof(int) * (size_t)(count * procs));
    for (int i = 0; i < count; ++i) mine[i] = rank * count + i;
    MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, comm);
    for (int i = 0; i < count * procs; ++i)
      if (all[i] != i) MPI_Abort(MPI_COMM_WORLD, 1);
    free(mine);
    free(all);
  }
  ++calls;
  *flag = 0;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, procs = 1, key = MPI_KEYVAL_INVALID;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
  int* all = calloc((size_t)procs, sizeof(int));
  MPI_Request request;
  MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < procs; ++i) wrong += all[i] != i;
  free(all);
  MPI_Comm_free_keyval(&key);
  if (rank == 0) printf("%d callbacks, %d wrong\n", calls, wrong);
  MPI_Finalize();
  return wrong != 0;
}
