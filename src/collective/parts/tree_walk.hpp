// SPDX-License-Identifier: BSD-3-Clause
// What gather, scatter and bcast do with a tree, whichever it is. Relative rank v is the rank v above the
// root.
#pragma once

#include <functional>

#include "collective/parts/rooted.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {

/// When a rank begins with its part of a tree: `at_call`: not before it has entered its call.
/// `in_background`: whatever needs nothing of its own may be done before, and what comes is received into
/// scratch. `either`: where the schedule is simplest.
enum class Begins : std::uint8_t { either, at_call, in_background };

/// Writes a gather, scatter or barrier for ranks that are known by their positions: `ranks` by position; the
/// first is the root.
void on_positions(const std::vector<Rank>& ranks, const Call& call, Builder& builder,
                  const std::function<void(const Call& inner)>& write);

/// Scatter: every rank is sent the blocks of its whole subtree as one message, keeps its own and hands the
/// others on. A rank inside the tree holds them in scratch; a leaf receives its block where it belongs.
void scatter_down(const Split& tree, const Call& call, Builder& builder, Begins begins = Begins::either);

/// Gather: the same backwards. A rank inside the tree puts its own block in front of its children's, so that
/// what it sends upwards stands in one piece.
void gather_up(const Split& tree, const Call& call, Builder& builder, Begins begins = Begins::either);

/// Bcast of `count` segments from `first` on, one after the other: every rank hands a segment on as soon as
/// it has it. `at` is this rank's node. Segment s is in round node.round + s · period.
void pass_down(const TreeNode& at, Rank first, Rank count, Rank period, const Call& call, Builder& builder);

/// How many rounds after a segment a rank of this tree can begin with the next one: those in which the root
/// sends.
Rank period_of(const Split& tree, Rank procs);

/// The n-way binomial tree of a call whose one parameter is the fan-out, and that parameter.
inline Split nway_tree(const Call& call) { return even_split(static_cast<Rank>(call.parameters[0])); }

constexpr Parameter nway_fanout(std::string_view summary) {
  return {
      .name = "fanout", .summary = summary, .fallback = 3, .least = 1, .most = 1024, .samples = {1, 2, 3}};
}

}  // namespace convene::collective
