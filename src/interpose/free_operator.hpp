// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/functions.hpp"

namespace convene::interpose {

/// MPI_Op_free while Convene is active: an operator that a pending collective uses is freed on its
/// completion.
int free_operator(MPI_Op* op, const void* caller);

}  // namespace convene::interpose
