// SPDX-License-Identifier: BSD-3-Clause
// Core census: whether the ranks of a node share cores, so that those that wait should sleep.
//
// Design notes
// - The first rank of the node decides for all, since those that signal must know whether others sleep.
// - Ranks share cores if not each of them can run on a CPU of its own, by the affinity of each
//   (topology/core_sharing.hpp). Ranks of the job that are on the node but not in the communicator count as
//   ones that may run on any CPU, as far as the launcher says how many there are.
// - A rank that shares cores within one communicator does so in all that follow: a communicator of half of a
//   node's ranks may look as if each had a core.
// - Limits of processor time (cgroups) and other programs on the node are not considered.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/functions.hpp"
#include "topology/core_sharing.hpp"

namespace convene::runtime {

class CoreCensus {
 public:
  /// Prepares a census of a communicator of ranks on one node, or of MPI_COMM_NULL. Does not throw.
  explicit CoreCensus(MPI_Comm node) noexcept;
  /// False without memory on this rank: then take() may not be called on any.
  bool is_ready() const { return is_ready_; }
  /// Collective over the ranks of the node. Returns the decision on the first rank; on others the result has
  /// no meaning.
  bool take() noexcept;
  /// Remembers what the first rank has decided.
  static void note(bool must_sleep);

 private:
  /// Sent by each rank to the first one.
  struct Entry {
    CpuMask cpus;
    std::uint32_t launched;  // ranks on this node; 0: unknown
    std::uint32_t shares;    // 1: is known to share cores
  };

  bool decide() const;

  MPI_Comm node_;
  bool is_ready_ = false;
  std::vector<Entry> entries_;  // on the first rank
};

}  // namespace convene::runtime
