/* SPDX-License-Identifier: BSD-3-Clause */
/* A PMPI tool: counts the program's calls by function, and prints them in MPI_Finalize. Like other tools
 * it initialises in MPI_Init, and does not tolerate a call before that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(X)                                                                                       \
  X(Allgather, (const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, MPI_Comm c),      \
    (in, n, t, out, m, u, c))                                                                              \
  X(Iallgather,                                                                                            \
    (const void* in, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u, MPI_Comm c, MPI_Request* r), \
    (in, n, t, out, m, u, c, r))                                                                           \
  X(Allreduce, (const void* in, void* out, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),                   \
    (in, out, n, t, o, c))                                                                                 \
  X(Bcast, (void* at, int n, MPI_Datatype t, int root, MPI_Comm c), (at, n, t, root, c))                   \
  X(Barrier, (MPI_Comm c), (c))                                                                            \
  X(Send, (const void* at, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (at, n, t, to, tag, c))    \
  X(Recv, (void* at, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s),                 \
    (at, n, t, from, tag, c, s))                                                                           \
  X(Isend, (const void* at, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),           \
    (at, n, t, to, tag, c, r))                                                                             \
  X(Irecv, (void* at, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),               \
    (at, n, t, from, tag, c, r))                                                                           \
  X(Sendrecv,                                                                                              \
    (const void* in, int n, MPI_Datatype t, int to, int tag, void* out, int m, MPI_Datatype u, int from,   \
     int other, MPI_Comm c, MPI_Status* s),                                                                \
    (in, n, t, to, tag, out, m, u, from, other, c, s))                                                     \
  X(Probe, (int from, int tag, MPI_Comm c, MPI_Status* s), (from, tag, c, s))                              \
  X(Wait, (MPI_Request * r, MPI_Status * s), (r, s))                                                       \
  X(Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))                                            \
  X(Test, (MPI_Request * r, int* done, MPI_Status* s), (r, done, s))                                       \
  X(Waitany, (int n, MPI_Request* r, int* at, MPI_Status* s), (n, r, at, s))                               \
  X(Waitsome, (int n, MPI_Request* r, int* m, int* at, MPI_Status* s), (n, r, m, at, s))                   \
  X(Testall, (int n, MPI_Request* r, int* done, MPI_Status* s), (n, r, done, s))                           \
  X(Testany, (int n, MPI_Request* r, int* at, int* done, MPI_Status* s), (n, r, at, done, s))              \
  X(Testsome, (int n, MPI_Request* r, int* m, int* at, MPI_Status* s), (n, r, m, at, s))                   \
  X(Request_get_status, (MPI_Request r, int* done, MPI_Status* s), (r, done, s))                           \
  X(Request_free, (MPI_Request * r), (r))                                                                  \
  X(Send_init, (const void* at, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),       \
    (at, n, t, to, tag, c, r))                                                                             \
  X(Start, (MPI_Request * r), (r))                                                                         \
  X(Startall, (int n, MPI_Request* r), (n, r))                                                             \
  X(Ssend, (const void* at, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (at, n, t, to, tag, c))   \
  X(Iprobe, (int from, int tag, MPI_Comm c, int* found, MPI_Status* s), (from, tag, c, found, s))          \
  X(Mprobe, (int from, int tag, MPI_Comm c, MPI_Message* m, MPI_Status* s), (from, tag, c, m, s))          \
  X(Mrecv, (void* at, int n, MPI_Datatype t, MPI_Message* m, MPI_Status* s), (at, n, t, m, s))             \
  X(Comm_dup, (MPI_Comm c, MPI_Comm * made), (c, made))                                                    \
  X(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* made), (c, color, key, made))                   \
  X(Op_free, (MPI_Op * o), (o))

/* Allocated by MPI_Init. */
static struct Counts {
#define MEMBER(name, parameters, arguments) int name;
  FUNCTIONS(MEMBER)
} * counts;
static int inits, finalizes;

static void set_up(void) {
  ++inits;
  counts = calloc(1, sizeof *counts);
}

int MPI_Init(int* argc, char*** argv) {
  set_up();
  return PMPI_Init(argc, argv);
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  set_up();
  return PMPI_Init_thread(argc, argv, required, provided);
}

#define WRAP(name, parameters, arguments) \
  int MPI_##name parameters {             \
    ++counts->name;                       \
    return PMPI_##name arguments;         \
  }
FUNCTIONS(WRAP)

int MPI_Finalize(void) {
  int rank = 0;
  char line[1024];
  int length = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ++finalizes;
  length += snprintf(line + length, sizeof line - length, "counted by rank %d: Init=%d Finalize=%d", rank,
                     inits, finalizes);
#define PRINT(name, parameters, arguments) \
  length += snprintf(line + length, sizeof line - length, " " #name "=%d", counts->name);
  FUNCTIONS(PRINT)
  printf("%s\n", line);
  fflush(stdout);
  return PMPI_Finalize();
}
