/* SPDX-License-Identifier: BSD-3-Clause */
/* Behind Convene in LD_PRELOAD: counts the collectives that a library calls by their PMPI names, and prints
 * their number as the process ends. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static unsigned long calls = 0;

#define COUNT(name, parameters, arguments)                       \
  int PMPI_##name parameters {                                   \
    static int(*next) parameters = NULL;                         \
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_" #name); \
    ++calls;                                                     \
    return next arguments;                                       \
  }

COUNT(Allgather, (const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, MPI_Comm c),
      (in, n, t, out, m, u, c))
COUNT(Allreduce, (const void* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
      (in, out, n, t, op, c))
COUNT(Iallreduce, (const void* in, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* r),
      (in, out, n, t, op, c, r))
COUNT(Bcast, (void* at, int n, MPI_Datatype t, int root, MPI_Comm c), (at, n, t, root, c))
COUNT(Barrier, (MPI_Comm c), (c))
COUNT(Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))
COUNT(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* made), (c, g, made))
COUNT(Comm_split_type, (MPI_Comm c, int kind, int key, MPI_Info info, MPI_Comm* made),
      (c, kind, key, info, made))

__attribute__((destructor)) static void print(void) {
  if (calls > 0) fprintf(stderr, "internal collectives: %lu\n", calls);
}
