// SPDX-License-Identifier: BSD-3-Clause
// Linear scatter: the root sends every rank its block, starting with the rank above it.
//
// Source:   Viertel, section 5.1.2.
// Requires: nothing.
// Cost:     1 round of P − 1 messages from the root, no extra memory.
//
//            before      round 0                     (root 1)
//   rank     0 1 2 3     0 1 2 3
//   block 0  . 0 . .     * 0 . .
//   block 1  . 1 . .     . 1 . .
//   block 2  . 2 . .     . 2 * .
//   block 3  . 3 . .     . 3 . *       (* arrives in this round)
#include "collective/parts/rooted.hpp"

namespace convene::collective {
namespace {

void generate_scatter_linear(const Call& call, Builder& builder) {
  if (!call.is_root()) return builder.recv(call.root, own_block(call));
  for (Rank above = 1; above < call.procs; ++above)
    builder.send(call.up(above), all_blocks(call, call.up(above), 1));
  builder.copy(all_blocks(call, call.rank, 1), own_block(call));
}

}  // namespace

extern constinit const Algorithm scatter_linear = {
    .name = "linear",
    .summary = "The root sends every rank its block directly.",
    .source = "Viertel 2007, section 5.1.2",
    .collectives = scatters,
    .rounds = "1",
    .generate = generate_scatter_linear,
};

}  // namespace convene::collective
