// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize: threads of Convene's own end before it begins. MPICH stops locking at its start, before it deletes
// attributes: one that is inside the MPI then never gives its lock back, and the end is an abort. (Where a tool calls PMPI_Finalize
// by itself, the deletion of MPI_COMM_SELF's attributes has to do; process/process.cpp.)
#include <dlfcn.h>

#include "mpi/functions.hpp"
#include "runtime/process/process.hpp"

extern "C" int convene_entry_Finalize() __asm__("MPI_Finalize") __attribute__((visibility("default")));
extern "C" int convene_entry_Finalize() {
  convene::runtime::process::stop_threads();
  // Tools that follow have an MPI_Finalize, too. An MPI that was loaded privately is not found so.
  void* const next = dlsym(RTLD_NEXT, "MPI_Finalize");
  return reinterpret_cast<int (*)()>(next ? next : convene::capi::mpi_symbol("PMPI_Finalize"))();
}
