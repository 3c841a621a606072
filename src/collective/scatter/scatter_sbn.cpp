// SPDX-License-Identifier: BSD-3-Clause
// SBN (sorted binomial tree): a binomial scatter in which the ranks that are expected first are served first,
// in the positions with the largest subtrees. A late rank is a leaf, served in the last round, and no other
// rank's block passes through it.
//
// Source:   named in Proficz 2021, section 2 (trees "constructed according to the process arrival times");
//           the order of the ranks in the tree is this project's.
// Requires: nothing. All ranks must have the same forecast, of which only the order matters; without one it
//           is the binomial scatter.
// Cost:     ⌈log₂P⌉ rounds; the root sends ⌈log₂P⌉ messages, all others receive one. In scratch up to P/2 − 1
//           blocks, at the ranks inside the tree.
// Arrivals: from a forecast. The own block is received directly into the output, so its message is received
//           at the call.
//
// P = 4, root 0, a = (0, 5, 0, 1): rank 2 is served first, with the block of rank 1, which it forwards in
// round 1.
//
//            before      round 0     round 1
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .
//   block 1  1 . . .     1 . * .     1 * 1 .
//   block 2  2 . . .     2 . * .     2 . 2 .
//   block 3  3 . . .     3 . . .     3 . . *       (* arrives in this round)
//
// P = 5 takes a round more, with rank 1 still in the last one.
#include "collective/scatter/scatter_in_turn.hpp"

namespace convene::collective {
namespace {

void generate_scatter_sbn(const Call& call, Builder& builder) {
  scatter_sorted_binomial(call, builder, Begins::at_call);
}

}  // namespace

extern constinit const Algorithm scatter_sbn = {
    .name = "sbn",
    .summary = "A binomial tree that serves early ranks first.",
    .source = "named in Proficz 2021, section 2; the design is this project's",
    .collectives = scatters,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "⌈log₂P⌉",
    .relays = true,
    .generate = generate_scatter_sbn,
};

}  // namespace convene::collective
