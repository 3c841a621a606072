// SPDX-License-Identifier: BSD-3-Clause
// Memory mapped by the ranks of a node: POSIX shared memory. Not an MPI-3 window: freeing one is collective
// and may wait for other ranks, and a handle may be deleted at any time (MPICH frees a communicator when its
// last message is complete, inside any call that detects it). A mapping is released by each rank alone.
#pragma once

#include <memory>
#include <vector>

#include "mpi/functions.hpp"
#include "transport/shared_memory.hpp"

namespace convene::runtime {

/// Memory with this many bytes per run, shared by the ranks of a communicator on this node. Null if it could
/// not be obtained here (other nodes may have it). Collective; may wait for others: a rank without memory
/// takes part until the end.
std::unique_ptr<SharedMemory> share_memory(MPI_Comm comm, Rank rank, const std::vector<Rank>& node_of_rank,
                                           std::size_t bytes) noexcept;

}  // namespace convene::runtime
