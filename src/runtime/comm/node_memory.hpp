// SPDX-License-Identifier: BSD-3-Clause
// Memory mapped by the ranks of a node: POSIX shared memory. Not an MPI-3 window: freeing one is collective
// and may wait for other ranks, and a handle may be deleted at any time (MPICH frees a communicator when its
// last message is complete, inside any call that detects it). A mapping is released by each rank alone.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/functions.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::runtime {

/// Memory that the ranks of a node share.
struct NodeMemory {
  std::shared_ptr<std::byte> bytes;  ///< null: there is none
  bool must_sleep = false;           ///< ranks that wait should sleep: equal on all of them
};

/// Bytes of memory, by how ranks wait.
struct NodeBytes {
  std::size_t polling, sleeping;
};

/// Maps this many bytes, all zero, shared by the ranks of a communicator on this node (the bytes may differ
/// between nodes). Null if they could not be obtained here (other nodes may have them). Collective; may wait
/// for others: a rank without memory takes part until the end.
NodeMemory map_on_node(MPI_Comm comm, Rank rank, const std::vector<Rank>& node_of_rank,
                       NodeBytes bytes) noexcept;

/// The ranks on the node of a rank, in order.
std::vector<Rank> ranks_beside(Rank rank, const std::vector<Rank>& node_of_rank);

}  // namespace convene::runtime
