// SPDX-License-Identifier: BSD-3-Clause
// What follows MPI_Init: results, rules, wisdom and the internal communicator of MPI_COMM_WORLD.
#pragma once

#include "base/layers.hpp"

namespace convene::runtime {

/// All ranks agree on how results return, check optional rules, share wisdom, and make the internal
/// communicator of MPI_COMM_WORLD. Call it once after MPI_Init. Collective over MPI_COMM_WORLD.
void prepare_world();

}  // namespace convene::runtime
