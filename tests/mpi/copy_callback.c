// SPDX-License-Identifier: BSD-3-Clause
// Attribute copy callbacks of a communicator whose first call is non-blocking. Nothing duplicates it, so none
// of them is to be called: one runs collectives on it, the other fails on one rank.
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

static int refuse(MPI_Comm comm, int keyval, void* extra, void* value, void* copied, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)copied;
  ++calls;
  *flag = 0;
  return *(int*)value == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, procs = 1, key = MPI_KEYVAL_INVALID, refusing = MPI_KEYVAL_INVALID;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &refusing, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, refusing, &rank);
  int* all = calloc((size_t)procs, sizeof(int));
  MPI_Request request;
  MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < procs; ++i) wrong += all[i] != i;
  free(all);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&refusing);
  if (rank == 0) printf("%d callbacks, %d wrong\n", calls, wrong);
  MPI_Finalize();
  return wrong != 0;
}
