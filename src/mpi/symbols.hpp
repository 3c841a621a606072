// SPDX-License-Identifier: BSD-3-Clause
// Symbols of the MPI that this process has loaded.
#pragma once

namespace convene::mpi {

/// Whether an MPI is loaded, globally or privately by another library (as Python does).
bool is_mpi_loaded();

/// The address of a function or object of the loaded MPI, or null. For what is not in the tables
/// (mpi/functions.hpp).
void* mpi_symbol(const char* name);

/// The same for an object that every MPI of this kind has: aborts without it.
void* mpi_object(const char* name);

}  // namespace convene::mpi
