// SPDX-License-Identifier: BSD-3-Clause
// Common parts of tests of error handlers: a handler that counts, and the class of an error.
#pragma once

#include <mpi.h>

inline int handled = 0;
inline MPI_Comm handled_comm = MPI_COMM_NULL;

/// An MPI_Comm_errhandler_function.
inline void count_error(MPI_Comm* comm, int*, ...) {
  ++handled;
  handled_comm = *comm;
}

inline int class_of(int code) {
  int result = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &result);
  return result;
}
