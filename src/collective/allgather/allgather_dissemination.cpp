// SPDX-License-Identifier: BSD-3-Clause
// Dissemination: like Bruck with one port, but upwards: a rank sends the n blocks that end with its own to
// the rank n above. More runs of blocks wrap around the end than in Bruck, which costs a copy or a second
// message (parameter wrap).
//
// Source:   Viertel, section 5.3.2, after the dissemination barrier.
// Requires: nothing.
// Cost:     ⌈log₂P⌉ rounds, one message each (two with wrap=message), P − 1 blocks per rank.
//
//            before      round 0     round 1
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * *
//   block 1  . 1 . .     . 1 * .     * 1 1 *
//   block 2  . . 2 .     . . 2 *     * * 2 2
//   block 3  . . . 3     * . . 3     3 * * 3       (* arrives in this round)
//
//            before      round 0     round 1     round 2
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 * . . .   0 0 * * .   0 0 0 0 *
//   block 4  . . . . 4   * . . . 4   4 * * . 4   4 4 4 * 4
#include <algorithm>

#include "collective/allgather/allgather_blocks.hpp"

namespace convene::collective {
namespace {

void generate_allgather_dissemination(const Call& call, Builder& builder) {
  const auto wrap = static_cast<Wrap>(call.parameters[0]);
  place_own_block(call, builder);
  Rank round = 0;
  for (Rank held = 1; held < call.procs; held *= 2, ++round) {
    builder.round(round);
    // The last round sends only what the rank above lacks.
    const Rank count = std::min(held, call.procs - held);
    const Range mine = held_blocks(call.up() + call.procs - count, count);
    const Range theirs = blocks(call.down(held) + 1 + call.procs - count, count);
    each_piece(mine, call.procs, wrap, [&](const Range& piece) { builder.send(call.up(held), piece); });
    each_piece(theirs, call.procs, wrap, [&](const Range& piece) { builder.recv(call.down(held), piece); });
  }
}

}  // namespace

extern constinit const Algorithm allgather_dissemination = {
    .name = "dissemination",
    .summary = "In each round a rank sends its n blocks to the rank n above it; n doubles.",
    .source = "Viertel 2007, section 5.3.2",
    .collectives = allgathers,
    .symmetry = Symmetry::rotation,  // with wrap=message the run is split at a different block on each rank
    .rounds = "⌈log₂P⌉",
    .parameters = only(wrap_parameter),
    .generate = generate_allgather_dissemination,
};

}  // namespace convene::collective
