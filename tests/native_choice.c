/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls collectives by name, and prints which of Open MPI's functions ran each: COLLECTIVE:PROCS:BYTES …
 * A preloaded library (tests/native_choices.py) counts them. Without it, "-" is printed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) void native_choice_reset(void);
__attribute__((weak)) const char* native_choice_first(void);

enum { most_ranks = 64 };

static void call(const char* name, MPI_Comm comm, int procs, int bytes) {
  char *send = calloc((size_t)bytes * (size_t)procs + 8, 1),
       *all = calloc((size_t)bytes * (size_t)procs + 8, 1);
  int counts[most_ranks], places[most_ranks], doubles = bytes / 8;
  for (int i = 0; i < procs; ++i) counts[i] = bytes, places[i] = i * bytes;
  if (!strcmp(name, "allgather")) MPI_Allgather(send, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
  if (!strcmp(name, "allgatherv")) MPI_Allgatherv(send, bytes, MPI_BYTE, all, counts, places, MPI_BYTE, comm);
  if (!strcmp(name, "allreduce")) MPI_Allreduce(send, all, doubles, MPI_DOUBLE, MPI_SUM, comm);
  if (!strcmp(name, "alltoall")) MPI_Alltoall(send, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
  if (!strcmp(name, "barrier")) MPI_Barrier(comm);
  if (!strcmp(name, "bcast")) MPI_Bcast(send, bytes, MPI_BYTE, 0, comm);
  if (!strcmp(name, "gather")) MPI_Gather(send, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, comm);
  if (!strcmp(name, "reduce")) MPI_Reduce(send, all, doubles, MPI_DOUBLE, MPI_SUM, 0, comm);
  if (!strcmp(name, "scatter")) MPI_Scatter(send, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, comm);
  if (!strcmp(name, "reduce_scatter_block"))
    MPI_Reduce_scatter_block(send, all, doubles, MPI_DOUBLE, MPI_SUM, comm);
  if (!strcmp(name, "reduce_scatter")) {
    for (int i = 0; i < procs; ++i) counts[i] = doubles;
    MPI_Reduce_scatter(send, all, counts, MPI_DOUBLE, MPI_SUM, comm);
  }
  free(send);
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comms[most_ranks + 1];
  for (int procs = 2; procs <= size; ++procs)
    MPI_Comm_split(MPI_COMM_WORLD, rank < procs ? 0 : MPI_UNDEFINED, rank, &comms[procs]);
  for (int i = 1; i < argc; ++i) {
    char name[64];
    int procs, bytes;
    if (sscanf(argv[i], "%63[a-z_]:%d:%d", name, &procs, &bytes) != 3 || procs > size) return 2;
    if (rank >= procs) continue;
    if (native_choice_reset) native_choice_reset();
    call(name, comms[procs], procs, bytes);
    if (rank == 0) printf("%s %s\n", argv[i], native_choice_first ? native_choice_first() : "-");
  }
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
