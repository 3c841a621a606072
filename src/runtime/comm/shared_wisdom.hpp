// SPDX-License-Identifier: BSD-3-Clause
// Shared wisdom: read by one rank, and equal on all ranks of a communicator.
//
// Design notes
// - Rank 0 of MPI_COMM_WORLD reads the files in MPI_Init, in which all ranks take part, and broadcasts the
//   entries of its node. No other rank opens a file. Communicators within MPI_COMM_WORLD use these entries.
// - A communicator with ranks of other groups (spawned, connected, of a session), or in a program whose
//   MPI_Init did not pass through Convene, agrees in its first blocking call: its rank 0 reads. Which of both
//   applies is equal on all its ranks.
// - Ranks on nodes with another processor refuse it, for all ranks.
#pragma once

#include <memory>

#include "decide/selection.hpp"
#include "runtime/comm/comm_info.hpp"

namespace convene::runtime {

struct SharedWisdom {
  Selection selection;                     ///< the process's choices with the wisdom; all native without any
  std::uint64_t cores = 0;                 ///< of a node; 0: no wisdom, and none may be learned
  std::vector<Rank> node_of_world_rank{};  ///< of MPI_COMM_WORLD's wisdom, where there is any
  Rank ranks_per_node = 0;                 ///< of the fullest node; 0: unknown
};

/// To be called once after MPI_Init, if it passed through Convene. Collective over MPI_COMM_WORLD. Does not
/// throw.
void share_wisdom_in_world() noexcept;

/// Ends the program unless a rules file that may be absent (CONVENE_RULES=-FILE) is the same for all ranks of
/// MPI_COMM_WORLD, or absent for all. Collective; nothing without such a file.
void check_optional_rules();

/// Whether MPI_COMM_WORLD's wisdom chooses no algorithm of Convene's, or there is none. Equal on all its
/// ranks.
bool world_wisdom_is_native();

/// The MPI and the node of this process.
MachineKey machine_here();

/// What a communicator uses, without communication: MPI_COMM_WORLD's wisdom if its ranks are all of that;
/// else null.
std::shared_ptr<const SharedWisdom> wisdom_of_world(const CommInfo& info);

/// What rank 0 of the communicator reads. Collective; equal on all ranks.
std::shared_ptr<const SharedWisdom> agree_on_wisdom(const CommInfo& info);

}  // namespace convene::runtime
