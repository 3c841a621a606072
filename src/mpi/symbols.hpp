// SPDX-License-Identifier: BSD-3-Clause
// Symbols of the MPI that this process has loaded.
#pragma once

namespace convene::mpi {

/// True if an MPI is loaded, globally or privately by another library (as in Python).
bool is_mpi_loaded();

/// The address of a function or object of the loaded MPI, or null. For symbols that are not in the tables
/// (mpi/functions.hpp).
void* mpi_symbol(const char* name);

/// The address of an object that every MPI of this kind has: aborts if it is missing.
void* mpi_object(const char* name);

}  // namespace convene::mpi
