// SPDX-License-Identifier: BSD-3-Clause
// The standard ABI of MPI 5, as MPICH 5 has it: libmpi_abi.
#include "mpi/functions.hpp"

namespace convene::mpi::stack {

bool is_loaded() { return is_standard_abi(); }

}  // namespace convene::mpi::stack
