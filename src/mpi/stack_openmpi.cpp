// SPDX-License-Identifier: BSD-3-Clause
// Open MPI.
#include "mpi/functions.hpp"

namespace convene::mpi::stack {

bool is_loaded() { return mpi_symbol("ompi_mpi_comm_world") != nullptr; }

bool can_add_progress_callback() {
  static const bool exists = mpi_symbol("opal_progress_register") != nullptr;
  return exists;
}

bool add_progress_callback(ProgressCallback callback) {
  const auto add = reinterpret_cast<int (*)(ProgressCallback)>(mpi_symbol("opal_progress_register"));
  return add && add(callback) == 0;
}

bool can_extend_requests() { return false; }

int start_request(const RequestCallbacks& callbacks, void* context, MPI_Request* request) {
  return pmpi.Grequest_start(callbacks.query, callbacks.free, callbacks.cancel, context, request);
}

}  // namespace convene::mpi::stack
