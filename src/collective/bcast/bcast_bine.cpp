// SPDX-License-Identifier: BSD-3-Clause
// Bine tree (binomial negabinary): a binomial tree over the distances …, −5, 3, −1, 1, alternately above and
// below, which are about two thirds of 16, 8, 4, 2, 1. A rank's number relative to the root, written with the
// base −2, gives its place: its parent has the other values of the lowest equal digits.
//
// Source:   De Sensi et al. 2025 (SC, arXiv 2508.17311), the tree with distances that halve.
// Requires: a power of two.
// Cost:     N·log₂P rounds with N segments; at most log₂P messages per rank and segment.
//
//            before      round 0     round 1                   (root 0: distances −1, 1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   vector   0 . . .     0 . . *     0 * * 0       (* arrives in this round)
#include "collective/bcast/bcast_parameters.hpp"
#include "collective/parts/bine_tree.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_bcast_bine(const Call& call, Builder& builder) {
  const NegabinaryNode node = bine_node(call);
  TreeNode tree{.parent = node.parent, .subtree = node.subtree, .round = node.round, .children = {}};
  for (const NegabinaryNode::Child& child : node.children)
    tree.children.push_back({child.rank, child.subtree, child.round});
  pass_down(tree, 0, static_cast<Rank>(call.parameters[0]), std::max(bine_rounds(call.procs), 1u), call,
            builder);
}

constexpr Parameter bcast_bine_parameters[] = {bcast_segments(1, {1, 3})};

}  // namespace

extern constinit const Algorithm bcast_bine = {
    .name = "bine",
    .summary =
        "A binomial tree over the negabinary distances …, 3, 1, 1: about two thirds of a binomial tree's.",
    .source = "De Sensi et al. 2025 (arXiv 2508.17311)",
    .collectives = {Collective::bcast},
    .requirement = Requirement::power_of_two,
    .rounds = "N·log₂P, N segments",
    .parameters = bcast_bine_parameters,
    .generate = generate_bcast_bine,
};

}  // namespace convene::collective
