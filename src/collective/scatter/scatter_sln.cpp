// SPDX-License-Identifier: BSD-3-Clause
// SLN (sorted linear): the root sends the blocks one after the other, in the order in which the ranks are
// expected. A late rank is served last, and delays no other rank.
//
// Source:   named in Proficz 2021, section 2 (a linear tree sorted by arrival times).
// Requires: nothing. All ranks must have the same forecast, of which only the order matters; without one the
//           order is upwards from the root.
// Cost:     P − 1 messages from the root, no extra memory.
// Arrivals: from a forecast. Blocks are received directly into the output, so at the call.
//
// P = 4, root 0, a = (0, 5, 0, 1): the order is 2, 3, 1.
//
//            before      round 0     round 1     round 2
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .     0 . . .
//   block 1  1 . . .     1 . . .     1 . . .     1 * . .
//   block 2  2 . . .     2 . * .     2 . 2 .     2 . 2 .
//   block 3  3 . . .     3 . . .     3 . . *     3 . . 3       (* arrives in this round)
//
// P = 5 takes a round more.
#include "collective/scatter/scatter_in_turn.hpp"

namespace convene::collective {
namespace {

void generate_scatter_sln(const Call& call, Builder& builder) {
  scatter_in_turn(call, builder, Begins::at_call);
}

}  // namespace

extern constinit const Algorithm scatter_sln = {
    .name = "sln",
    .summary = "The root sends the blocks in the order of expected arrival.",
    .source = "named in Proficz 2021, section 2; the design is this project's",
    .collectives = scatters,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "P − 1",
    .generate = generate_scatter_sln,
};

}  // namespace convene::collective
