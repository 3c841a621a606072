// SPDX-License-Identifier: BSD-3-Clause
// MPICH and its relatives: no progress hook, extended generalised requests.
#include "mpi/extended_requests.hpp"

namespace convene::mpi::stack {

bool can_add_progress_callback() { return false; }
bool add_progress_callback(ProgressCallback) { return false; }

bool can_extend_requests() { return extended_start() != nullptr; }
int start_request(const RequestCallbacks& callbacks, void* context, MPI_Request* request) {
  return start_extended_or_plain(callbacks, context, request);
}

}  // namespace convene::mpi::stack
