// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter and bcast over any tree. Relative rank v is the rank v above the root.
#pragma once

#include <functional>

#include "collective/parts/rooted.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {

/// Earliest start of a rank's part of a tree. `at_call`: when it has entered its call. `in_background`: steps
/// that do not depend on its input may run before, and messages are received into scratch. `either`: as in
/// the simplest schedule.
enum class Begins : std::uint8_t { either, at_call, in_background };

/// Generates a gather, scatter or barrier for ranks that are known by their positions: `ranks` by position;
/// the first is the root.
void on_positions(const std::vector<Rank>& ranks, const Call& call, Builder& builder,
                  const std::function<void(const Call& inner)>& write);

/// Scatter: every rank receives the blocks of its whole subtree as one message, keeps its own and forwards
/// the others. A rank inside the tree receives them into scratch; a leaf receives its block in its final
/// place.
void scatter_down(const Split& tree, const Call& call, Builder& builder, Begins begins = Begins::either);

/// Gather: the same in reverse. A rank inside the tree puts its own block before its children's, so that its
/// message upwards is contiguous.
void gather_up(const Split& tree, const Call& call, Builder& builder, Begins begins = Begins::either);

/// Bcast of `count` segments from `first` on, one after the other: every rank forwards a segment as soon as
/// it has it. `at` is this rank's node. Segment s is in round node.round + s · period.
void pass_down(const TreeNode& at, Rank first, Rank count, Rank period, const Call& call, Builder& builder);

/// Number of rounds after a segment until a rank of this tree can start the next one: those in which the root
/// sends.
Rank period_of(const Split& tree, Rank procs);

/// The n-way binomial tree of a call whose only parameter is the fan-out, and that parameter.
inline Split nway_tree(const Call& call) { return even_split(static_cast<Rank>(call.parameters[0])); }

constexpr Parameter nway_fanout(std::string_view summary) {
  return {
      .name = "fanout", .summary = summary, .fallback = 3, .least = 1, .most = 1024, .samples = {1, 2, 3}};
}

}  // namespace convene::collective
