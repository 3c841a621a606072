// SPDX-License-Identifier: BSD-3-Clause
// What C and Fortran programs do with persistent requests.
#pragma once

#include "mpi/functions.hpp"

namespace convene::interpose {

/// MPI_Start, of a caller that has been noted (runtime/call/caller.hpp).
int start_request(MPI_Request* request);
/// MPI_Request_free.
int free_request(MPI_Request* request);

}  // namespace convene::interpose
