// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests of C and Fortran programs.
#pragma once

#include "mpi/functions.hpp"

namespace convene::interpose {

/// MPI_Start and MPI_Startall, after note_caller() (runtime/call/caller.hpp).
int start_request(MPI_Request* request);
int start_requests(int count, MPI_Request* requests);
/// MPI_Request_free.
int free_request(MPI_Request* request);

}  // namespace convene::interpose
