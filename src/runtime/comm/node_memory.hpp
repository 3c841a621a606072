// SPDX-License-Identifier: BSD-3-Clause
// Memory that the ranks of a node map: POSIX shared memory. Not an MPI-3 window: to free one is collective
// and may wait for other ranks, and a handle may go at any time (MPICH frees a communicator when its last
// message is over, inside whichever call sees that). A mapping is let go of by each rank alone.
#pragma once

#include <memory>
#include <vector>

#include "mpi/functions.hpp"
#include "transport/shared_memory.hpp"

namespace convene::runtime {

/// Memory for so many bytes a run, shared by the ranks of a communicator that are on this one's node. Null
/// where it could not be had here (others may have got it). Collective; may wait for others.
std::unique_ptr<SharedMemory> share_memory(MPI_Comm comm, Rank rank, const std::vector<Rank>& node_of_rank,
                                           std::size_t bytes);

}  // namespace convene::runtime
