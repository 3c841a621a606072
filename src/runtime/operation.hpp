// SPDX-License-Identifier: BSD-3-Clause
// A collective as an operation: started, and complete some time later. Non-blocking calls are operations that are
// started once; persistent ones are started again and again.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "runtime/bound_call.hpp"
#include "runtime/communicator.hpp"
#include "runtime/progress.hpp"

namespace convene {

/// Starts a non-blocking call whose arguments are sound and for which an algorithm of Convene's was chosen. The request
/// is one that all calls of the MPI take. Returns MPI_SUCCESS or the MPI's error.
int start_operation(const Arguments& arguments, Communicator& communicator, Decision& decision,
                    MPI_Request* request);

}  // namespace convene
