// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize: Convene's threads end before the MPI finalizes. MPICH stops locking at the start of
// MPI_Finalize, before it deletes attributes; a thread inside the MPI then never releases its lock, and the
// program aborts. (If a tool calls PMPI_Finalize itself, they end at the deletion of MPI_COMM_SELF's
// attributes: runtime/process/process.cpp.)
#include "mpi/next_symbol.hpp"
#include "runtime/process/process.hpp"

extern "C" int convene_entry_Finalize() __asm__("MPI_Finalize") __attribute__((visibility("default")));
extern "C" int convene_entry_Finalize() {
  static constinit convene::mpi::NextFunction<int (*)()> next("MPI_Finalize");
  convene::runtime::process::before_finalize();
  return next.get(__builtin_return_address(0))();
}
