// SPDX-License-Identifier: BSD-3-Clause
// SMPI of SimGrid: runs the executor in simulation. There are no generalised requests.
#include "mpi/functions.hpp"

namespace convene::mpi::stack {

bool is_loaded() { return true; }

bool can_add_progress_callback() { return false; }
bool add_progress_callback(ProgressCallback) { return false; }

bool can_extend_requests() { return false; }
int start_request(const RequestCallbacks&, void*, MPI_Request*) { return MPI_ERR_UNSUPPORTED_OPERATION; }

}  // namespace convene::mpi::stack
