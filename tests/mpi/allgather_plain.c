/* SPDX-License-Identifier: BSD-3-Clause */
/* A small MPI program in C, as users write them: two collectives, and a check of the received data. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0, all_wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* all = malloc(sizeof(int) * (size_t)size * (size_t)(size + 1));
  int* counts = malloc(sizeof(int) * (size_t)size);
  int* places = malloc(sizeof(int) * (size_t)size);
  int* mine = malloc(sizeof(int) * (size_t)(size + 1));
  for (int i = 0; i <= size; ++i) mine[i] = 100 * rank + i;

  MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < 2 * size; ++i) wrong += all[i] != 100 * (i / 2) + i % 2;

  for (int i = 0, next = 0; i < size; next += ++i) {
    counts[i] = i + 1;
    places[i] = next;
  }
  MPI_Allgatherv(mine, rank + 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < counts[i]; ++j) wrong += all[places[i] + j] != 100 * i + j;

  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", all_wrong == 0 ? "all right" : "wrong");
  free(mine);
  free(places);
  free(counts);
  free(all);
  MPI_Finalize();
  return all_wrong != 0;
}
