// SPDX-License-Identifier: BSD-3-Clause
// Linear broadcast: the root sends the whole vector to every other rank.
//
// Source:   folklore.
// Requires: nothing.
// Cost:     1 round of P − 1 messages from the root, no extra memory.
//
//            before      round 0                     (root 1)
//   rank     0 1 2 3     0 1 2 3
//   vector   . 0 . .     * 0 * *       (* arrives in this round)
#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

void generate_bcast_linear(const Call& call, Builder& builder) {
  const Range vector(Buffer::output, 0);
  if (!call.is_root()) return builder.recv(call.root, vector);
  for (Rank above = 1; above < call.procs; ++above) builder.send(call.up(above), vector);
}

}  // namespace

extern constinit const Algorithm bcast_linear = {
    .name = "linear",
    .summary = "The root sends the whole vector to every other rank.",
    .source = "folklore",
    .collectives = {Collective::bcast},
    .rounds = "1",
    .generate = generate_bcast_linear,
};

}  // namespace convene::collective
