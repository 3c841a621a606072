// SPDX-License-Identifier: BSD-3-Clause
// MPICH, and those that share its binary interface.
#include "mpi/functions.hpp"

namespace convene::mpi::stack {

bool is_loaded() { return !is_standard_abi() && mpi_symbol("ompi_mpi_comm_world") == nullptr; }

}  // namespace convene::mpi::stack
