/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in which one rank is always late: allgathers of one size with other buffers and types each
 * time, with other collectives in between, on communicators that are freed while the next call is
 * expected.
 *
 *   ahead [CALLS [FLOATS]]
 */
#define _DEFAULT_SOURCE /* usleep */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, procs, floats;

static float value(int call, int from, int item) { return (float)((call * 7 + from * 3 + item) % 1024); }

static void check(const float* all, int stride, int call) {
  for (int r = 0; r < procs; ++r)
    for (int i = 0; i < floats; ++i)
      if (all[((size_t)r * (size_t)floats + (size_t)i) * (size_t)stride] != value(call, r, i)) {
        printf("FAILED: call %d, rank %d, item %d of rank %d\n", call, rank, i, r);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
}

/* One call in one of five forms, all of the same size in bytes. */
static void gather(int call, MPI_Comm comm) {
  const int form = call % 5, stride = form == 3 ? 2 : 1;
  const size_t bytes = sizeof(float) * (size_t)floats;
  float* mine = malloc(2 * bytes);
  float* all = malloc(2 * bytes * (size_t)procs);
  memset(all, 0xff, 2 * bytes * (size_t)procs);
  for (int i = 0; i < floats; ++i) mine[i * stride] = value(call, rank, i);
  MPI_Datatype spread, item;
  switch (form) {
    case 0:
      MPI_Allgather(mine, floats, MPI_FLOAT, all, floats, MPI_FLOAT, comm);
      break;
    case 1:
      MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, floats, MPI_FLOAT, comm);
      break;
    case 2:
      memcpy(all + (size_t)rank * (size_t)floats, mine, bytes);
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, floats, MPI_FLOAT, comm);
      break;
    case 3: /* every second float */
      MPI_Type_create_resized(MPI_FLOAT, 0, 2 * (MPI_Aint)sizeof(float), &item);
      MPI_Type_commit(&item);
      MPI_Allgather(mine, floats, item, all, floats, item, comm);
      MPI_Type_free(&item);
      for (int i = 0; i < floats * procs; ++i) {
        const unsigned char* gap = (const unsigned char*)(all + 2 * (size_t)i + 1);
        if (gap[0] != 0xff || gap[3] != 0xff) {
          printf("FAILED: call %d wrote into a gap\n", call);
          MPI_Abort(MPI_COMM_WORLD, 1);
        }
      }
      break;
    default:
      MPI_Type_contiguous(floats, MPI_FLOAT, &spread);
      MPI_Type_commit(&spread);
      MPI_Allgather(mine, 1, spread, all, 1, spread, comm);
      MPI_Type_free(&spread);
  }
  check(all, stride, call);
  free(mine);
  free(all);
}

static void compute(int call) { usleep(rank == procs - 1 ? 9000 : call % 7 == 0 ? 0 : 1000); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const int calls = argc > 1 ? atoi(argv[1]) : 60;
  floats = argc > 2 ? atoi(argv[2]) : 4096;
  int call = 0;
  for (int round = 0; round < 2; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < calls; ++i, ++call) {
      compute(call);
      gather(call, comm);
      if (call % 11 == 0) MPI_Barrier(comm);
    }
    /* So many other collectives that the next allgather is no longer expected; then it follows
     * nevertheless. */
    for (int i = 0; i < 150; ++i) {
      int sum = 0, one = 1;
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
      if (sum != procs) {
        printf("FAILED: a sum of %d\n", sum);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    for (int i = 0; i < 6; ++i, ++call) {
      compute(call);
      gather(call, comm);
    }
    /* The same with allgathers of another size, which are started early themselves. */
    floats *= 2;
    for (int i = 0; i < 80; ++i, ++call) {
      if (i < 12) compute(call);
      gather(call, comm);
    }
    floats /= 2;
    for (int i = 0; i < 6; ++i, ++call) {
      compute(call);
      gather(call, comm);
    }
    MPI_Comm_free(&comm);
  }
  /* The program ends while the next call is expected. */
  for (int i = 0; i < calls; ++i, ++call) {
    compute(call);
    gather(call, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%d calls, all right\n", call);
  MPI_Finalize();
  return 0;
}
