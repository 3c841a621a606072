// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking calls: started, and completed later.
#pragma once

#include "runtime/call/bound_call.hpp"
#include "runtime/comm/communicator.hpp"

namespace convene::runtime {

/// Starts a non-blocking call with sound arguments and an algorithm of Convene's. `lanes`: shared memory, if
/// the decision has shared places. All MPI calls accept the request. Returns MPI_SUCCESS or the MPI's error.
int start_operation(const Arguments& arguments, Communicator& communicator, Decision& decision,
                    std::shared_ptr<SharedLanes> lanes, MPI_Request* request);

}  // namespace convene::runtime
