// SPDX-License-Identifier: BSD-3-Clause
// Modified ring: every rank sends its own block to all others, starting with the rank above. Nothing is
// forwarded, so no message depends on another: good for networks with many messages in flight.
//
// Source:   Viertel, section 5.3.2.
// Requires: nothing.
// Cost:     P − 1 rounds (which may all overlap), P − 1 messages and blocks per rank, no extra memory.
//
//            before      round 0     round 1     round 2
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * .     0 0 0 *
//   block 1  . 1 . .     . 1 * .     . 1 1 *     * 1 1 1
//   block 2  . . 2 .     . . 2 *     * . 2 2     2 * 2 2
//   block 3  . . . 3     * . . 3     3 * . 3     3 3 * 3       (* arrives in this round, from its owner)
//
// For P = 5 it continues in the same way: in round r the block of rank x arrives at rank x + r + 1.
#include "collective/allgather/allgather_blocks.hpp"

namespace convene::collective {
namespace {

void generate_allgather_modified_ring(const Call& call, Builder& builder) {
  place_own_block(call, builder);
  for (Rank round = 0; round + 1 < call.procs; ++round) {
    builder.round(round);
    builder.send(call.up(round + 1), own_input());
    builder.recv(call.down(round + 1), blocks(call.down(round + 1)));
  }
}

}  // namespace

extern constinit const Algorithm allgather_modified_ring = {
    .name = "modified_ring",
    .summary =
        "Every rank sends its own block to all others, starting with the rank above; nothing is forwarded.",
    .source = "Viertel 2007, section 5.3.2",
    .collectives = allgathers,
    .symmetry = Symmetry::rotation,
    .rounds = "P − 1, independent of each other",
    .generate = generate_allgather_modified_ring,
};

}  // namespace convene::collective
