// SPDX-License-Identifier: BSD-3-Clause
// Two trees at once: even segments go up one binary tree, odd ones up another, in which the inner ranks of
// the first are leaves. So in four rounds every rank receives two segments and sends two: both directions of
// its link are always busy. Both trees are in-order trees, and are attached to one more rank, number 0, which
// obtains the result.
//
// The first tree is over the numbers 1 … P − 1, rooted at the number that is divisible by the highest power
// of two: its leaves are the odd numbers. If P − 1 is even, the second tree is its mirror image, which
// exchanges odd and even. If P − 1 is odd, the second tree has the same shape shifted by one: number 1 is
// then at position 0, at the root.
//
// Source:   Sanders, Speck, Träff 2009, sections 3 and 4; named in Marendic et al. 2016, table 3 (2-tree).
//           The source also colours the edges so that no rank has two messages of one kind in a round; here
//           rounds are only labels, and messages are sent as soon as they are ready.
// Requires: nothing. Keeps the order: if the operator does not commute and the root is not rank 0, the result
//           takes one more message from rank 0 to the root.
// Cost:     about N + 2⌈log₂P⌉ rounds of 1/N vector; up to two vectors of extra memory.
//
//   P = 4, root 0:   even   0 ← 2    2 ← 1, 3          odd   0 ← 1    1 ← 3    3 ← 2
//   P = 5, root 0:   even   0 ← 4    4 ← 2    2 ← 1, 3          odd   0 ← 1    1 ← 3    3 ← 2, 4
#include <bit>

#include "collective/parts/reduction.hpp"
#include "collective/parts/tree_reduce.hpp"

namespace convene::collective {
namespace {

/// One of the two trees: the positions begin … end − 1, and the number at each position.
struct Tree {
  Rank procs;
  bool second;

  bool mirrored() const { return second && procs % 2 == 1; }
  bool moved() const { return second && procs % 2 == 0; }
  std::uint32_t begin() const { return moved() ? 0 : 1; }
  std::uint32_t end() const { return moved() ? procs - 1 : procs; }
  std::uint32_t exchange(std::uint32_t position) const {  // numbers to positions (or, mirrored, back)
    return mirrored() ? procs - position : position;
  }
  Rank number(std::uint32_t position) const { return moved() ? position + 1 : exchange(position); }
  std::uint32_t position(Rank number) const { return moved() ? number - 1 : exchange(number); }
  std::uint32_t top() const { return most_even(begin(), end()); }
  std::uint32_t height() const {
    const std::uint32_t size = end() - 1;  // of the positions 1 …; position 0 makes the tree one higher
    return static_cast<std::uint32_t>(std::bit_width(size)) - (moved() ? 0 : 1);
  }
};

TreeRole role_in(const Tree& tree, const Numbering& numbering) {
  const std::uint32_t top_round = 2 * tree.height();
  if (numbering.own() == 0) {
    TreeRole role;
    if (tree.procs > 1)
      role.children.push_back({numbering.rank(tree.number(tree.top())), OperandOrder::above, top_round});
    return role;
  }
  const std::uint32_t position = tree.position(numbering.own());
  const InOrderNode node = in_order_node(position, tree.begin(), tree.end(), tree.top(), most_even);
  const auto rank = [&](std::uint32_t at) { return numbering.rank(tree.number(at)); };
  TreeRole role = role_of(node, tree.height(), tree.mirrored(), rank, position);
  if (!role.parent) role.parent = TreeEdge{numbering.rank(0), OperandOrder::above, top_round};
  return role;
}

void generate_reduce_two_tree(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const Numbering numbering{call};
  const TreeRole roles[] = {role_in({call.procs, false}, numbering), role_in({call.procs, true}, numbering)};
  Partial partial(call, builder, segments, to_root(call, 0));
  for (Place segment = 0; segment < segments; ++segment) {
    const TreeRole& role = roles[segment % 2];
    partial.expect_above(segment, role.above());
    role.pass(builder, partial, segment, segment / 2);
    builder.round(2 * (segment / 2 + static_cast<std::uint32_t>(std::bit_width(call.procs))) + segment % 2);
    numbering.pass_on(partial, segment);
  }
  if (call.is_root()) partial.settle(run_of_places(0, segments));
}

constexpr Parameter reduce_two_tree_parameters[] = {segments_parameter(16)};

}  // namespace

extern constinit const Algorithm reduce_two_tree = {
    .name = "two_tree",
    .summary = "Even and odd segments travel up two binary trees; no rank is an inner node of both.",
    .source = "Sanders, Speck, Träff 2009, sections 3 and 4; Marendic et al. 2016, table 3",
    .collectives = {Collective::reduce},
    .rounds =
        "about N + 2⌈log₂P⌉ of 1/N vector each; one more from rank 0 to the root for non-commutative "
        "operators",
    .parameters = reduce_two_tree_parameters,
    .generate = generate_reduce_two_tree,
};

}  // namespace convene::collective
