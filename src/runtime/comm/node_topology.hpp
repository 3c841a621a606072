// SPDX-License-Identifier: BSD-3-Clause
// Node topology of a communicator: the node of each rank.
#pragma once

#include <string>
#include <vector>

#include "runtime/comm/comm_info.hpp"
#include "topology/domains.hpp"

namespace convene::runtime {

/// Where the ranks of a communicator are: equal on all of them.
struct RankPlaces {
  std::vector<Rank> nodes;       ///< by rank
  std::vector<Domains> domains;  ///< by rank; empty: no level divides a node
  std::string levels;            ///< the levels that divide nodes, in a line for reports
};

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
  /// Takes the places of MPI_COMM_WORLD's ranks. Local. False if this communicator has other ranks.
  bool read_from_world(const RankPlaces& world);

  Rank nodes() const { return nodes_; }                    ///< 0: not known
  Rank ranks_per_node() const { return ranks_per_node_; }  ///< of the fullest node
  const std::vector<Rank>& node_of_rank() const { return places_.nodes; }
  const RankPlaces& places() const { return places_; }

 private:
  void set(RankPlaces places);

  const CommInfo& info_;
  Rank nodes_ = 0, ranks_per_node_ = 0;
  bool is_refused_ = false;
  RankPlaces places_;
};

}  // namespace convene::runtime
