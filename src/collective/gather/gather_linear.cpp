// SPDX-License-Identifier: BSD-3-Clause
// Linear gather: every rank sends its block directly to the root, which receives them in any order.
//
// Source:   Viertel, section 5.2.2.
// Requires: nothing.
// Cost:     1 round of P − 1 messages to the root, no extra memory.
//
//            before      round 0                     (root 1)
//   rank     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .
//   block 1  . 1 . .     . 1 . .
//   block 2  . . 2 .     . * 2 .
//   block 3  . . . 3     . * . 3       (* arrives in this round)
#include "collective/parts/rooted.hpp"

namespace convene::collective {
namespace {

void generate_gather_linear(const Call& call, Builder& builder) {
  if (!call.is_root()) return builder.send(call.root, own_block(call));
  builder.copy(own_block(call), all_blocks(call, call.rank, 1));
  for (Rank above = 1; above < call.procs; ++above)
    builder.recv(call.up(above), all_blocks(call, call.up(above), 1));
}

}  // namespace

extern constinit const Algorithm gather_linear = {
    .name = "linear",
    .summary = "Every rank sends its block directly to the root.",
    .source = "Viertel 2007, section 5.2.2",
    .collectives = gathers,
    .rounds = "1",
    .generate = generate_gather_linear,
};

}  // namespace convene::collective
