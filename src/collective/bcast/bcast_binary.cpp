// SPDX-License-Identifier: BSD-3-Clause
// Binary tree broadcast: every rank forwards each segment to two children with equal subtrees. The tree is
// shorter than the chain, and unlike in the binomial tree no rank has more than two children, so segments
// follow each other closely.
//
// Source:   Pješivac-Grbović et al. 2007 (binary tree).
// Requires: nothing.
// Cost:     h − 1 + N rounds with N segments, h = ⌊log₂P⌋ the height of the tree; a rank receives N segments
//           and sends 2N.
//
//            round 0     round 1     round 2               (root 0, segments a and b; 0 → 1, 3; 1 → 2)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   a        a * . *     a a * a     a a a a
//   b        b . . .     b * . *     b b * b       (* arrives in this round)
//
//   P = 5: 0 → 1, 3; 1 → 2; 3 → 4.
#include "collective/bcast/bcast_parameters.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_bcast_binary(const Call& call, Builder& builder) {
  pass_down(tree_node(kary_split(2), call.relative(), call.procs), 0, static_cast<Rank>(call.parameters[0]),
            1, call, builder);
}

constexpr Parameter bcast_binary_parameters[] = {bcast_segments(8, {1, 4})};

}  // namespace

extern constinit const Algorithm bcast_binary = {
    .name = "binary",
    .summary = "Every rank forwards each segment to two children with equal subtrees.",
    .source = "Pješivac-Grbović et al. 2007",
    .collectives = {Collective::bcast},
    .rounds = "⌊log₂P⌋ − 1 + N, N segments",
    .parameters = bcast_binary_parameters,
    .generate = generate_bcast_binary,
};

}  // namespace convene::collective
