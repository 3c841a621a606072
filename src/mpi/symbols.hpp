// SPDX-License-Identifier: BSD-3-Clause
// Symbols of the MPI that this process has loaded.
#pragma once

namespace convene::mpi {

/// True if an MPI is loaded, globally or privately by another library (as in Python).
bool is_mpi_loaded();

/// The address of a function or object of the loaded MPI, or null. For symbols that are not in the tables
/// (mpi/functions.hpp).
void* loaded_symbol(const char* name);

/// Definitions that take the place of the MPI's, by their names with MPI_ or PMPI_; null without one. Set it
/// before find_mpi(). (Only the component of Open MPI has such.)
inline void* (*stand_in)(const char* name) = nullptr;

/// The stand-in of that name, else loaded_symbol().
void* mpi_symbol(const char* name);

/// The address of an object that every MPI of this kind has: aborts if it is missing.
void* mpi_object(const char* name);

}  // namespace convene::mpi
