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
// - Without wisdom for as many ranks or fewer, nothing else is agreed on in MPI_Init. A communicator whose
// first trial is about to try
//   candidates agrees on its machine by itself, since their verdicts may become wisdom.
#pragma once

#include <memory>

#include "decide/selection.hpp"
#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/node_topology.hpp"

namespace convene::runtime {

/// The machine of all ranks of a communicator, as far as wisdom depends on it. Equal on all of them.
struct SharedMachine {
  std::uint64_t cores = 0;  ///< of each node; 0: unknown, or the nodes differ
  Rank ranks_per_node = 0;  ///< of MPI_COMM_WORLD, on its fullest node; 0: unknown

  bool is_known() const { return cores != 0; }
};

struct SharedWisdom {
  Selection selection;           ///< the process's choices with the wisdom; all native without any
  SharedMachine machine{};       ///< unknown where there is no wisdom
  RankPlaces places_in_world{};  ///< of MPI_COMM_WORLD's wisdom, where there is any
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

/// The machine of a communicator with these numbers of ranks on its fullest node. One collective; unknown if
/// the nodes have different processors, or if not all ranks know how many of MPI_COMM_WORLD's share their
/// node.
SharedMachine agree_on_machine(const CommInfo& info, Rank ranks_per_node);

/// What rank 0 of the communicator reads. Collective; equal on all ranks.
std::shared_ptr<const SharedWisdom> agree_on_wisdom(const CommInfo& info);

}  // namespace convene::runtime
