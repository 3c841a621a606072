// SPDX-License-Identifier: BSD-3-Clause
// Split-binary tree broadcast: one half of the vector goes down the left subtree of a binary tree, the other
// down the right one; then every rank and its counterpart on the other side swap their halves. The root sends
// the vector once, in the binary tree twice.
//
// Source:   Pješivac-Grbović et al. 2007 (split-binary tree, as in Open MPI).
// Requires: at least two segments.
// Cost:     h − 1 + ⌈N/2⌉ + 1 rounds with N segments, h = ⌊log₂P⌋ the height of the tree; a rank receives N
//           segments and sends up to 3N/2. If P is even, one rank on the left has no counterpart: the root
//           sends it its other half.
//
//            root 0, halves a and b; left: 0 → 1 → 2, right: 0 → 3 → 4
//            round 0       round 1       round 2
//   rank     0 1 2 3 4     0 1 2 3 4     0 1 2 3 4
//   a        a * . . .     a a * . .     a a a * *
//   b        b . . * .     b . . b *     b * * b b       (* arrives in this round)
//
//   P = 4: left 0 → 1 → 2, right 0 → 3; 1 and 3 swap, 2 gets b from 0.
#include "collective/bcast/bcast_parameters.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

/// The two sides of the tree and their halves. Ranks are relative to the root.
struct Halves {
  Rank left_ranks, right_ranks;  ///< ranks on the left are 1 … left_ranks
  Rank middle, segments;         ///< segments below `middle` go down the left side

  Halves(Rank procs, Rank n)
      : left_ranks(procs / 2), right_ranks(procs - 1 - procs / 2), middle((n + 1) / 2), segments(n) {}

  bool is_left(Rank rank) const { return rank <= left_ranks; }
  Rank first(bool left) const { return left ? 0 : middle; }
  Rank count(bool left) const { return left ? middle : segments - middle; }
  Range of(bool left) const { return Range(Buffer::output, first(left), count(left)); }
};

/// The root's part: sends down both sides in turn, and the right half to the rank without a counterpart.
void feed(const Call& call, const Halves& halves, const TreeNode& root, Rank swap_round, Builder& builder) {
  for (Rank segment = 0; segment < halves.middle; ++segment)
    for (const TreeNode::Child& child : root.children) {
      const bool left = halves.is_left(child.rank);
      if (segment >= halves.count(left)) continue;
      builder.round(segment);
      builder.send(call.absolute(child.rank), Range(Buffer::output, halves.first(left) + segment));
    }
  builder.round(swap_round);
  if (halves.left_ranks > halves.right_ranks)
    builder.send(call.absolute(halves.left_ranks), halves.of(false));
}

void generate_bcast_split_binary(const Call& call, Builder& builder) {
  const Split tree = kary_split(2);
  const TreeNode node = tree_node(tree, call.relative(), call.procs);
  const Halves halves(call.procs, static_cast<Rank>(call.parameters[0]));
  const Rank swap_round = tree_rounds(tree, call.procs) + halves.middle - 1;
  if (call.is_root()) return feed(call, halves, node, swap_round, builder);

  const Rank me = call.relative();
  const bool left = halves.is_left(me);
  pass_down(node, halves.first(left), halves.count(left), 1, call, builder);
  builder.round(swap_round);
  const Rank other = left ? me + halves.left_ranks : me - halves.left_ranks;
  if (other >= call.procs) return builder.recv(call.root, halves.of(false));
  builder.send(call.absolute(other), halves.of(left));
  builder.recv(call.absolute(other), halves.of(!left));
}

constexpr Parameter bcast_split_binary_parameters[] = {bcast_segments(8, {2, 5}, 2)};

}  // namespace

extern constinit const Algorithm bcast_split_binary = {
    .name = "split_binary",
    .summary =
        "Each half of the vector travels down one side of a binary tree; then the sides exchange halves.",
    .source = "Pješivac-Grbović et al. 2007",
    .collectives = {Collective::bcast},
    .rounds = "⌊log₂P⌋ + ⌈N/2⌉, N segments",
    .parameters = bcast_split_binary_parameters,
    .generate = generate_bcast_split_binary,
};

}  // namespace convene::collective
