// SPDX-License-Identifier: BSD-3-Clause
// Consensus of a communicator's ranks: collective helpers on the program's communicator.
#pragma once

#include <cstdint>

#include "mpi/functions.hpp"
#include "runtime/comm/comm_info.hpp"

namespace convene::runtime {

/// Scope in which errors on a communicator are returned, instead of passed to the program's error handler.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm comm) : comm_(comm) {
    pmpi.Comm_get_errhandler(comm, &before_);
    pmpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturned() {
    pmpi.Comm_set_errhandler(comm_, before_);
    pmpi.Errhandler_free(&before_);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// The least value of all ranks. Collective; `otherwise` if the MPI fails.
int least_of_all(int mine, int otherwise, MPI_Comm comm);

/// True if `mine` is true on all ranks. Collective; false if the MPI fails.
bool on_all_ranks(bool mine, MPI_Comm comm);

/// The maximum over all ranks. Collective; pending operations progress meanwhile.
std::int64_t maximum(std::int64_t mine, MPI_Comm comm);

/// Barrier in which pending operations progress: a late rank may have to complete one first. Blocking
/// collectives after it delay no operation. Does nothing if the MPI's progress hook makes it superfluous.
void progressing_barrier(MPI_Comm comm);

/// Both groups of an intercommunicator as one communicator, owned by the caller; the ranks with `behind` are
/// ordered after the others. Its errors are returned. MPI_COMM_NULL if it cannot be created, which other
/// ranks do not learn. Collective.
MPI_Comm merge_groups(MPI_Comm comm, bool behind);

}  // namespace convene::runtime
