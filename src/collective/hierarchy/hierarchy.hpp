// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical algorithms: the ranks by nodes, with one or several leaders per node. The data of a collective
// is divided into as many lanes as there are leaders per node. Between nodes, lane l is exchanged among the
// leaders number l of all nodes, so every byte enters a node once; within a node, the leaders and the other
// ranks distribute it.
//
// If ranks have their own blocks (allgather, gather, scatter, alltoall, barrier), the ranks of a node are
// divided into as many groups, runs of ranks, each with its leader: lane l has the blocks of all groups
// number l. If there is one vector (bcast, reduce, allreduce), lane l is its l-th part.
//
// At another level than that of the nodes (parameter `level`), the same is done with the domains of nodes:
// below, a node is then a domain.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collective/core/composition.hpp"
#include "collective/hierarchy/node_level.hpp"

namespace convene::collective {

/// Ranks by nodes. Nodes are numbered in the order of their first ranks; their ranks are in order.
class Hierarchy {
 public:
  /// The hierarchy of a call with Call::nodes, whose first parameter is the number of leaders per node, and
  /// the second one, if any, the level.
  explicit Hierarchy(const Call& call);

  Rank nodes() const { return static_cast<Rank>(members_.size()); }
  Rank lanes() const { return lanes_; }
  const Ranks& members(Rank node) const { return members_[node]; }
  Rank node_of(Rank rank) const { return node_of_rank_[rank]; }

  /// The ranks of a group, in order; its leader is its first rank, or the root if it belongs to the group.
  Ranks group(Rank node, Rank lane) const;
  Rank leader(Rank node, Rank lane) const;
  /// The leaders of a lane by node, those of a node by lane, and the ranks of all groups of a lane, in order.
  Ranks leaders_of_lane(Rank lane) const;
  Ranks leaders_of_node(Rank node) const;
  Ranks ranks_of_lane(Rank lane) const;

  // Of this rank.
  Rank own_node() const { return own_node_; }
  Rank own_lane() const { return own_lane_; }  ///< the lane of its group
  const Ranks& own_members() const { return members_[own_node_]; }
  bool is_leader() const { return leader(own_node_, own_lane_) == rank_; }

  Rank root_node() const { return root_node_; }  ///< node 0 without a root
  bool is_on_root_node() const { return own_node_ == root_node_; }

  /// True if the ranks of each node are consecutive, as an operator that does not commute requires.
  bool has_runs() const;

 private:
  Rank rank_, root_;  // no rank without a root
  Rank lanes_;
  std::vector<Rank> node_of_rank_;
  std::vector<Ranks> members_;
  Rank own_node_ = 0, own_lane_ = 0, root_node_ = 0;
};

/// Earliest time at which a rank can take part in a phase: unknown; its arrival; the arrival of all ranks of
/// its node.
enum class When : std::uint8_t { unknown, arrived, node_arrived };

/// Parts of a composition: between nodes, and within a node (up to its leader and down from it, if these
/// differ).
enum HierarchyPart : std::size_t { between = 0, within = 1, up = 1, down = 2 };

/// The shared places of a hierarchical call's parts, where ranks of a node are divided into domains. The
/// teams of a part on the same machine node use different ones, since they run at the same time.
struct SharedLayout {
  /// Places of a part: the first one, and the number of those of a team.
  struct Slot {
    std::uint64_t first = 0, of_team = 0;
  };
  std::vector<Slot> slots;
  std::uint64_t places = 0;
};
SharedLayout shared_layout(const Algorithm& algorithm, const Call& call);

/// One hierarchical call: its part 0 runs between nodes, the others within them. Generators run phases of
/// parts one after the other. All ranks pass the same phases, also those in which they have no part, so that
/// they agree on rounds.
class HierarchicalCall {
 public:
  HierarchicalCall(const Algorithm& algorithm, const Call& call, Builder& builder);

  const Hierarchy& nodes() const { return hierarchy_; }

  /// The ranks' blocks in a buffer: the first of `there` is at place 0, and so on. Sorted, for lookup.
  struct Held {
    Buffer buffer;
    Ranks there;
  };
  /// All ranks' blocks, in the caller's buffer; this rank's alone.
  Held all(Buffer buffer) const;
  Held own(Buffer buffer) const { return {buffer, {call_.rank}}; }
  /// New scratch for the blocks of these ranks.
  Held scratch(Ranks ranks) const;

  Embedding::Places block(const Held& held, Rank rank) const;
  Embedding::Places blocks(const Held& held, const Ranks& ranks) const;
  /// For each of these ranks its block; for each node the blocks of its group in a lane.
  std::vector<Embedding::Places> each(const Held& held, const Ranks& ranks) const;
  std::vector<Embedding::Places> by_node(const Held& held, Rank lane) const;
  std::vector<Embedding::Places> by_lane(const Held& held) const;  ///< all blocks of the lanes
  /// A lane's part of the vector, and scratch for it.
  Embedding::Places lane(Buffer buffer, Rank lane) const;
  Embedding::Places scratch_of_lane(Rank lane) const;

  std::uint32_t segments() const { return segments_; }
  std::uint32_t round() const { return round_; }

  void run(std::size_t slot, Phase phase, When when = When::unknown) const;
  /// Continues after the phases of a part between nodes, on all nodes or in all groups; or after one phase on
  /// these ranks with this root.
  void pass(std::size_t slot, Collective collective, Among among, When when = When::unknown);
  void pass(std::size_t slot, Collective collective, const Ranks& ranks, Rank root);
  /// Continues after a round of the algorithm's own messages.
  void pass_round() { ++round_; }

 private:
  std::vector<std::int32_t> arrivals(const Ranks& ranks, When when) const;

  const Call& call_;
  Builder& builder_;
  Hierarchy hierarchy_;
  std::span<const PartSlot> slots_;
  std::span<const Spec> parts_;
  std::uint32_t segments_, round_ = 0;
  SharedLayout shared_;    // empty unless ranks of a node are divided
  Rank team_on_node_ = 0;  // number of this rank's domain among those of its machine node
};

/// Composition::unmet of a hierarchical call; the number of places of a block or the vector; and
/// Composition::shared_places.
std::string unmet_in_hierarchy(const Algorithm& algorithm, const Call& call);
std::uint32_t pieces_in_hierarchy(const Algorithm& algorithm, const Call& call);
std::uint64_t shared_in_hierarchy(const Algorithm& algorithm, const Call& call);

}  // namespace convene::collective
