// SPDX-License-Identifier: BSD-3-Clause
// Adaptive tree allreduce: the earlier ranks reduce over a binomial tree, in which a rank is the nearer to
// the root the later it is expected. Their sum goes to the rank that is expected last, which adds its own
// contribution and broadcasts the result over a binomial tree of all ranks. So the last arrival is followed
// by one combine and a broadcast.
//
// Source:   Proficz 2021, section 2, describes Mamidala et al.: reduce and broadcast over a tree whose root,
//           marked by a token, moves to a late process. There the token moves at run time, with hardware
//           support of the network; here a forecast chooses the root, and the order of the other ranks is
//           this project's choice.
// Requires: a commutative operator. All ranks must have the same forecast; without one rank 0 is the root.
// Cost:     about 2⌈log₂P⌉ + 1 rounds of the whole vector, ⌈log₂P⌉ after a late last arrival; with N segments
//           the trees are pipelines; up to two vectors of extra memory. One sum is distributed, so all ranks
//           get the same bits.
// Arrivals: from a forecast, of which only the order matters. It gains most if one rank is late.
//
// P = 4, a = (0, 5, 1, 0): rank 1 is the root; rank 2, the last but one, collects the sum of the others.
//
//            before       round 0       round 1         round 2          round 3            round 4
//   rank     0 1 2 3      0 1 2  3      0 1 2   3       0   1   2   3    0   1   2   3      0   1   2   3
//   vector   0 1 2 3      0 1 23 .      . 1 023 .       .   all .   .    .   all .   all    all all all all
//
// P = 5 adds a rank to the tree of the others.
#include <algorithm>
#include <bit>

#include "collective/core/forecast.hpp"
#include "collective/parts/reduction.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {
namespace {

/// Numbers of the ranks that reduce before the root arrives: the later a rank, the nearer to number 0.
std::vector<Rank> numbers_of_others(const Call& call, Rank root, const std::vector<std::uint32_t>& delays) {
  std::vector<Rank> order = in_expected_order(delays), numbered(call.procs - 1);
  std::erase(order, root);
  auto next = order.begin();
  for (const Rank position : by_hops_to_root(call.procs - 1)) numbered[position] = *next++;
  return numbered;
}

void generate_allreduce_adaptive_tree(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  Partial partial(call, builder, segments, {.at_output = true});
  if (call.procs == 1) return partial.settle(run_of_places(0, segments));
  const std::vector<std::uint32_t> delays = expected_delays(call);
  const Rank root = latest(delays);
  const bool is_root = call.rank == root;
  const std::vector<Rank> others = numbers_of_others(call, root, delays);
  const auto up_rounds = static_cast<std::uint32_t>(std::bit_width(call.procs - 2)) + 1;
  const auto down_rounds = static_cast<std::uint32_t>(std::bit_width(call.procs - 1));

  const auto own = static_cast<Rank>(std::find(others.begin(), others.end(), call.rank) - others.begin());
  const TreeNode up = is_root ? TreeNode{} : binomial_node(own, call.procs - 1);
  const Rank relative = (call.rank + call.procs - root) % call.procs;
  const TreeNode down = binomial_node(relative, call.procs);
  const auto below = [&](Rank node) { return (node + root) % call.procs; };

  for (Place segment = 0; segment < segments; ++segment) {
    const std::uint32_t last = segment * up_rounds + up_rounds - 1;
    for (std::size_t i = up.children.size(); i-- > 0;) {
      builder.round(last - 1 - up.children[i].round);
      partial.take(others[up.children[i].rank], segment, OperandOrder::above);
    }
    builder.round(is_root || own == 0 ? last : last - 1 - up.round);
    if (is_root)
      partial.take(others[0], segment, OperandOrder::above);
    else
      partial.send(own == 0 ? root : others[up.parent], segment);
  }
  if (is_root) partial.settle(run_of_places(0, segments));
  for (Place segment = 0; segment < segments; ++segment) {
    const std::uint32_t first = segments * up_rounds + segment * down_rounds;
    builder.round(first + down.round);
    if (!is_root) partial.replace(below(down.parent), segment);
    for (const TreeNode::Child& child : down.children) {
      builder.round(first + child.round);
      partial.send(below(child.rank), segment);
    }
  }
}

constexpr Parameter allreduce_adaptive_tree_parameters[] = {segments_parameter(1)};

}  // namespace

extern constinit const Algorithm allreduce_adaptive_tree = {
    .name = "adaptive_tree",
    .summary = "The early ranks reduce to the rank that is expected last, which broadcasts the result.",
    .source = "after Mamidala et al., as described in Proficz 2021, section 2; from a forecast: this project",
    .collectives = {Collective::allreduce},
    .arrival_source = ArrivalSource::forecast,
    .rounds = "about 2⌈log₂P⌉ + 1, of which ⌈log₂P⌉ after a late last arrival",
    .parameters = allreduce_adaptive_tree_parameters,
    .commutative_only = true,
    .generate = generate_allreduce_adaptive_tree,
};

}  // namespace convene::collective
