/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made in every way, whose first collective is a non-blocking one. */
#include <mpi.h>
#include <stdio.h>

static int wrong, rank, procs;

static void gather(MPI_Comm comm) {
  int here = 0, size = 1, all[64];
  MPI_Request request;
  MPI_Comm_rank(comm, &here);
  MPI_Comm_size(comm, &size);
  MPI_Iallgather(&here, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < size; ++i) wrong += all[i] != i;
}

static void gather_and_free(MPI_Comm comm) {
  gather(comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  gather(MPI_COMM_WORLD);
  gather(MPI_COMM_SELF);

  MPI_Comm made, cart, inter, half;
  MPI_Group group;
  MPI_Request request;
  const int sizes[1] = {procs}, periods[1] = {1}, all_dimensions[1] = {1};
  const int next = (rank + 1) % procs, previous = (rank + procs - 1) % procs, one = 1;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  gather_and_free(made);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made);
  gather_and_free(made);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
  gather_and_free(made);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made);
  gather_and_free(made);
  MPI_Comm_create(MPI_COMM_WORLD, group, &made);
  gather_and_free(made);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made);
  gather_and_free(made);
  MPI_Group_free(&group);

  MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &cart);
  gather(cart);
  MPI_Cart_sub(cart, all_dimensions, &made);
  gather_and_free(made);
  MPI_Comm_free(&cart);
  int index[64], edges[64];
  for (int i = 0; i < procs; ++i) index[i] = i + 1, edges[i] = (i + 1) % procs;
  MPI_Graph_create(MPI_COMM_WORLD, procs, index, edges, 0, &made);
  gather_and_free(made);
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, &one, MPI_INFO_NULL, 0, &made);
  gather_and_free(made);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, &one, 1, &next, &one, MPI_INFO_NULL, 0, &made);
  gather_and_free(made);

  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  gather(half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
  MPI_Intercomm_merge(inter, rank % 2, &made);
  gather_and_free(made);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);

  /* A non-blocking duplicate: native until the first blocking collective, whatever runs that. */
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  gather(made);
  MPI_Barrier(made);
  gather(made);
  gather_and_free(made);

  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", all == 0 ? "all right" : "wrong");
  MPI_Finalize();
  return all != 0;
}
