// SPDX-License-Identifier: BSD-3-Clause
// Warnings of a rank that has waited long in a collective.
#pragma once

#include <cstddef>

#include "mpi/functions.hpp"

namespace convene::runtime {

/// Reports on standard error the ranks that this one waits for and, if it is in the collective's call (not
/// `is_started`), the call site in the program. For WaitWarning::say.
void warn_of_missing_peers(MPI_Comm comm, const int* peers, std::size_t count, bool is_started);

/// Says that the rank of the program waits inside the MPI, which knows for whom, in a call on a communicator
/// of `procs` ranks (0: an intercommunicator), and whether they make the internal communicator there. Calls
/// no MPI.
void warn_of_native_wait(int rank, const void* caller, int procs, bool makes_communicator);

}  // namespace convene::runtime
