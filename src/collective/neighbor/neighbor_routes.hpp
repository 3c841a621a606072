// SPDX-License-Identifier: BSD-3-Clause
// Routes of combined messages in a graph: which messages are sent, in which of two rounds, and by way of
// which rank the blocks of the others go. Chosen greedily; equal on all ranks that know the whole graph.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/slots.hpp"
#include "topology/graph.hpp"

namespace convene::collective {

/// What a target receives from a source: the block that all its targets receive, or one of its own.
enum class Block : std::uint8_t { same_for_all, own };

/// The messages of a graph, each pair of ranks once, and the replacements.
class Routes {
 public:
  /// `nodes`: each rank's node, or empty.
  Routes(const Graph& graph, const std::vector<Rank>& nodes, Block block);

  /// Whether a message is sent in that round.
  bool is_sent(Rank from, Rank to, bool in_second_round) const;
  /// Whether the blocks from one rank to another go by way of a third.
  bool is_relayed(Rank from, Rank to) const;
  /// That rank. Of relayed messages only.
  Rank via(Rank from, Rank to) const { return edges_[find(from, to)].via; }

  /// The sources of `from` whose blocks it takes along to `to`, in order.
  std::vector<Rank> taken_along(const Graph& graph, Rank from, Rank to) const;

 private:
  enum class When : std::uint8_t { open, early, late, gone };
  struct Edge {
    Rank from, to;
    When when = When::open;
    Rank via = 0;
  };
  /// A detour by a third rank: over these two messages.
  struct Way {
    std::uint32_t first, second;
  };

  std::uint32_t find(Rank from, Rank to) const;
  bool share_node(Rank a, Rank b) const { return nodes_.empty() || nodes_[a] == nodes_[b]; }
  template <class Visit>
  void for_each_way(const Edge& edge, Visit&& visit) const;
  std::vector<std::uint32_t> replacement_order() const;
  void combine(std::uint32_t index);

  std::vector<Rank> nodes_;
  Block block_;
  std::vector<std::uint32_t> first_;   // by rank: its first message
  std::vector<Edge> edges_;            // by sender and target
  std::vector<std::uint32_t> blocks_;  // by rank: the number of blocks that it sends
  std::uint32_t most_blocks_ = 0;
};

}  // namespace convene::collective
