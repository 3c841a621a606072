// SPDX-License-Identifier: BSD-3-Clause
// Extended generalised requests of MPICH and derived MPIs.
#pragma once

#include "mpi/functions.hpp"

namespace convene::mpi::stack {

inline void* extended_start() {
  static void* const function = mpi_symbol("PMPIX_Grequest_start");
  return function;
}

/// Starts an extended request if the loaded MPI has them, else a plain one.
inline int start_extended_or_plain(const RequestCallbacks& with, void* context, MPI_Request* request) {
  using Start = int (*)(decltype(with.query), decltype(with.free), decltype(with.cancel), decltype(with.poll),
                        decltype(with.wait), void*, MPI_Request*);
  if (const auto start = reinterpret_cast<Start>(extended_start()))
    return start(with.query, with.free, with.cancel, with.poll, with.wait, context, request);
  return pmpi.Grequest_start(with.query, with.free, with.cancel, context, request);
}

}  // namespace convene::mpi::stack
