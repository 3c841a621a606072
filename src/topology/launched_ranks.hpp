// SPDX-License-Identifier: BSD-3-Clause
// Launched ranks: how many processes of a job the launcher has started on each node, from its variables.
#pragma once

#include <cstdint>

#include "base/layers.hpp"

namespace convene::topology {

/// The processes of MPI_COMM_WORLD on this node, or on the fullest node, as the launcher says; 0: unknown. Of
/// Open MPI's mpirun (OMPI_COMM_WORLD_LOCAL_SIZE), Hydra (MPI_LOCALNRANKS) and srun
/// (SLURM_STEP_TASKS_PER_NODE). Local.
std::uint32_t launched_ranks_per_node();

}  // namespace convene::topology
