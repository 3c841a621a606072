// SPDX-License-Identifier: BSD-3-Clause
// Outermost exception barrier: no exception leaves the library through a C or Fortran frame.
//
// Failures that are functions of the call signature are handled by decisions: they lead to the native
// collective on all ranks. (A forced algorithm that cannot run ends the program.) Exceptions that arrive
// here are local to this rank, above all std::bad_alloc. They
// become an error code, which goes to the communicator's error handler; other ranks may wait, as for any
// failed rank.
#pragma once

#include "mpi/functions.hpp"

namespace convene::runtime {

/// The error code of the exception that is being handled: MPI_ERR_NO_MEM for std::bad_alloc, MPI_ERR_ARG for
/// Error, MPI_ERR_OTHER for others. Call it in a catch block. Prints one sentence per process and code.
int code_of_exception() noexcept;

/// The same; then calls the error handler of the communicator (MPI_COMM_NULL: that of MPI_COMM_SELF). Returns
/// the code.
int report_exception(MPI_Comm comm);

/// Passes the error of an operation to the error handler of its communicator, outside its calls.
void report_late(MPI_Comm comm, int code);

/// Runs `body`, which returns an error code. An exception is converted to one.
template <class Body>
int guarded(MPI_Comm comm, Body&& body) {
  try {
    return body();
  } catch (...) {
    return report_exception(comm);
  }
}

}  // namespace convene::runtime
