// SPDX-License-Identifier: BSD-3-Clause
// Ring: every rank forwards to the rank above the block that it last received from the rank below. Only
// neighbours communicate, so every byte travels the shortest distance; it needs P − 1 rounds.
//
// Source:   Loch, Sparbit, section 2.4.1; Viertel, section 5.3.2.
// Requires: nothing.
// Cost:     P − 1 rounds, P − 1 messages and blocks per rank, no extra memory.
//
//            before      round 0     round 1     round 2
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * .     0 0 0 *
//   block 1  . 1 . .     . 1 * .     . 1 1 *     * 1 1 1
//   block 2  . . 2 .     . . 2 *     * . 2 2     2 * 2 2
//   block 3  . . . 3     * . . 3     3 * . 3     3 3 * 3       (* arrives in this round)
//
//            before      round 0     round 1     round 2     round 3
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 * . . .   0 0 * . .   0 0 0 * .   0 0 0 0 *
//   block 4  . . . . 4   * . . . 4   4 * . . 4   4 4 * . 4   4 4 4 * 4
#include "collective/allgather/allgather_blocks.hpp"

namespace convene::collective {
namespace {

void generate_allgather_ring(const Call& call, Builder& builder) {
  place_own_block(call, builder);
  for (Rank round = 0; round + 1 < call.procs; ++round) {
    builder.round(round);
    if (round == 0)
      builder.send(call.up(), own_input());
    else
      builder.send(call.up(), blocks(call.down(round)));
    builder.recv(call.down(), blocks(call.down(round + 1)));
  }
}

}  // namespace

extern constinit const Algorithm allgather_ring = {
    .name = "ring",
    .summary = "Every rank sends to the rank above the block that it received last from the rank below.",
    .source = "Loch 2021, section 2.4.1; Viertel 2007, section 5.3.2",
    .collectives = allgathers,
    .symmetry = Symmetry::rotation,
    .rounds = "P − 1",
    .generate = generate_allgather_ring,
};

}  // namespace convene::collective
