// SPDX-License-Identifier: BSD-3-Clause
// A non-blocking call: started, and complete some time later.
#pragma once

#include "runtime/call/bound_call.hpp"
#include "runtime/comm/communicator.hpp"

namespace convene::runtime {

/// Starts a non-blocking call whose arguments are sound and for which an algorithm of Convene's was chosen.
/// The request is one that all calls of the MPI take. Returns MPI_SUCCESS or the MPI's error.
int start_operation(const Arguments& arguments, Communicator& communicator, Decision& decision,
                    MPI_Request* request);

}  // namespace convene::runtime
