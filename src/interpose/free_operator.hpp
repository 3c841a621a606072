// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/functions.hpp"

namespace convene::interpose {

/// MPI_Op_free while Convene is active: an operator that a collective still needs is freed when that is
/// complete.
int free_operator(MPI_Op* op, const void* caller);

}  // namespace convene::interpose
