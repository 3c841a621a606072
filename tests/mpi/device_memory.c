/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in a program whose last rank loads a library (the stand-in of a GPU runtime): results are
 * correct. All ranks' communicator has a non-blocking call and three blocking ones, that of the other ranks
 * one blocking call.
 *
 *   device_memory LIBRARY early|late     early: before the first collective; late: after the first one,
 *                                        which is non-blocking */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most_ranks = 64 };

static int failures;

static void load(const char* path) {
  if (dlopen(path, RTLD_NOW)) return;
  ++failures;
  fprintf(stderr, "cannot load %s: %s\n", path, dlerror());
}

static void gather(MPI_Comm comm, int blocking) {
  int rank, procs, all[most_ranks] = {0};
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &procs);
  const int mine = 100 + rank;
  if (blocking) {
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
  } else {
    MPI_Request request;
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int r = 0; r < procs; ++r) failures += all[r] != 100 + r;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, procs;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc != 3 || procs > most_ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  const int is_last = rank == procs - 1, is_early = strcmp(argv[2], "early") == 0;
  if (is_last && is_early) load(argv[1]);
  gather(MPI_COMM_WORLD, 0);
  if (is_last && !is_early) load(argv[1]);
  for (int call = 0; call < 3; ++call) gather(MPI_COMM_WORLD, 1);
  gather(MPI_COMM_WORLD, 0);
  MPI_Comm others;
  MPI_Comm_split(MPI_COMM_WORLD, is_last ? MPI_UNDEFINED : 0, rank, &others);
  if (!is_last) {
    gather(others, 1);
    MPI_Comm_free(&others);
  }
  if (failures == 0 && rank == 0) puts("all right");
  MPI_Finalize();
  return failures != 0;
}
