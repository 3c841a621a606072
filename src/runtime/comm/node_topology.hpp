// SPDX-License-Identifier: BSD-3-Clause
// Node topology of a communicator: the node of each rank.
#pragma once

#include <vector>

#include "runtime/comm/comm_info.hpp"

namespace convene::runtime {

class NodeTopology {
 public:
  explicit NodeTopology(const CommInfo& info) : info_(info) {}

  /// True if it is known; equal on all ranks.
  bool is_known() const { return nodes_ != 0; }
  /// True if the MPI could not determine it; equal on all ranks.
  bool is_refused() const { return is_refused_; }
  /// Queries the MPI. Collective; equal on all ranks. Declares a failure.
  void find();
  /// Reads the declared nodes of MPI_COMM_WORLD (CONVENE_MACHINE, CONVENE_MAPPING). Local: every rank reads
  /// the same.
  void read_declared();
  /// Takes the nodes of MPI_COMM_WORLD's ranks, by rank there. Local. False if this communicator has other
  /// ranks.
  bool read_from_world(const std::vector<Rank>& node_of_world_rank);

  Rank nodes() const { return nodes_; }                    ///< 0: not known
  Rank ranks_per_node() const { return ranks_per_node_; }  ///< of the fullest node
  const std::vector<Rank>& node_of_rank() const { return node_of_rank_; }

 private:
  void set(std::vector<Rank> node_of_rank);

  const CommInfo& info_;
  Rank nodes_ = 0, ranks_per_node_ = 0;
  bool is_refused_ = false;
  std::vector<Rank> node_of_rank_;  // equal on all ranks
};

}  // namespace convene::runtime
