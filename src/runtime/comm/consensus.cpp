// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/consensus.hpp"

#include "runtime/progress/progress_engine.hpp"
#include "runtime/stall/native_call_watch.hpp"

namespace convene::runtime {

int least_of_all(int mine, int otherwise, MPI_Comm comm) {
  int all = otherwise;
  return pmpi.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS ? all : otherwise;
}

bool on_all_ranks(bool mine, MPI_Comm comm) { return least_of_all(mine, 0, comm) == 1; }

std::int64_t maximum(std::int64_t mine, MPI_Comm comm) {
  std::int64_t all = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  if (pmpi.Iallreduce(&mine, &all, 1, MPI_INT64_T, MPI_MAX, comm, &request) == MPI_SUCCESS)
    progress::await(&request);
  return all;
}

void progressing_barrier(MPI_Comm comm) {
  if (progress::has_hook()) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (pmpi.Ibarrier(comm, &request) == MPI_SUCCESS) progress::await(&request);
}

MPI_Comm merge_groups(MPI_Comm comm, bool behind) {
  const ErrorsReturned scope(comm);
  const NativeCallWatch inside(0);
  // A barrier between groups waits for the other group; a second one, for all of the own group.
  progressing_barrier(comm);
  progressing_barrier(comm);
  MPI_Comm made = MPI_COMM_NULL;
  if (pmpi.Intercomm_merge(comm, behind, &made) != MPI_SUCCESS) return MPI_COMM_NULL;
  if (made != MPI_COMM_NULL) pmpi.Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

}  // namespace convene::runtime
