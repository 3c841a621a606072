// SPDX-License-Identifier: BSD-3-Clause
// BSBN (background sorted binomial tree): a binomial gather in which a rank is the nearer to the root the
// later it is expected. So the last rank's block needs one hop, and no other block waits for it. A rank
// inside the tree can receive its children's blocks before it arrives.
//
// Source:   named in Proficz 2021, section 2 (trees "constructed according to the process arrival times");
//           the order of the ranks in the tree is this project's.
// Requires: nothing. All ranks must have the same forecast, of which only the order matters; without one it
//           is the binomial gather.
// Cost:     ⌈log₂P⌉ rounds; the root receives ⌈log₂P⌉ messages, all others send one. One round after a late
//           last arrival. In scratch up to P/2 blocks, at the ranks inside the tree.
// Arrivals: from a forecast. Receives into scratch do not depend on their rank's input.
//
// P = 4, root 0, a = (0, 5, 0, 0): rank 1 is late, and a leaf below the root; rank 2 collects the block of
// rank 3.
//
//            before      round 0     round 1
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .
//   block 1  . 1 . .     * 1 . .     1 1 . .
//   block 2  . . 2 .     . . 2 .     * . 2 .
//   block 3  . . . 3     . . * 3     * . 3 3       (* arrives in this round)
//
// With rank 3 late and all others early, rank 3 is that leaf, and rank 2 collects the block of rank 1. P = 5
// has one more leaf below the root, in a round of its own.
#include "collective/core/forecast.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_gather_bsbn(const Call& call, Builder& builder) {
  on_positions(ranks_at(by_hops_to_root(call.procs), call), call, builder, [&](const Call& inner) {
    gather_up(knomial_split(1), inner, builder, Begins::in_background);
  });
}

}  // namespace

extern constinit const Algorithm gather_bsbn = {
    .name = "bsbn",
    .summary =
        "A binomial tree with late ranks near the root; before a rank arrives, it can receive its children's "
        "blocks, but not forward them.",
    .source = "named in Proficz 2021, section 2; the order in the tree is this project's",
    .collectives = gathers,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "⌈log₂P⌉; one after a late last arrival",
    .relays = true,
    .generate = generate_gather_bsbn,
};

}  // namespace convene::collective
