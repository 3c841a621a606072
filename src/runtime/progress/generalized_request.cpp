// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/progress/generalized_request.hpp"

#include "mpi/stack.hpp"

namespace convene::runtime {

int GeneralizedRequest::on_query(void* extra, MPI_Status* status) {
  pmpi.Status_set_elements(status, MPI_BYTE, 0);
  pmpi.Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<GeneralizedRequest*>(extra)->code();
}

int GeneralizedRequest::on_free(void* extra) {
  static_cast<GeneralizedRequest*>(extra)->on_request_gone();
  return MPI_SUCCESS;
}

/// A collective cannot be cancelled.
int GeneralizedRequest::on_cancel(void*, int) { return MPI_SUCCESS; }

int GeneralizedRequest::on_poll(void*, MPI_Status*) {
  progress::advance_all();
  return MPI_SUCCESS;
}

/// Until they are complete, not only over: operations that end in the background are completed by
/// advance_all().
int GeneralizedRequest::on_wait(int count, void** waited_for, double, MPI_Status*) {
  progress::advance_all();
  progress::wait_until([&] {
    for (int i = 0; i < count; ++i)
      if (!static_cast<GeneralizedRequest*>(waited_for[i])->is_completed_.load(std::memory_order_acquire))
        return false;
    return true;
  });
  return MPI_SUCCESS;
}

int GeneralizedRequest::make_request() {
  return stack::start_request({on_query, on_free, on_cancel, on_poll, on_wait}, this, &request_);
}

}  // namespace convene::runtime
