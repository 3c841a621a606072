// SPDX-License-Identifier: BSD-3-Clause
// Linear alltoall: every rank posts all its sends and receives at once. Each starts with the rank above it,
// so that not all send to the same rank first.
//
// Source:   folklore; the order is that of the pairwise exchange.
// Requires: nothing.
// Cost:     1 round of P − 1 messages and blocks per rank, no extra memory.
//
//   P = 3, block xy goes from rank x to rank y:
//            before      round 0
//   rank     0  1  2     0  1  2
//   from 0   .  .  .     00 01 02
//   from 1   .  .  .     10 11 12
//   from 2   .  .  .     20 21 22      (the own block is a copy)
#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

void generate_alltoall_linear(const Call& call, Builder& builder) {
  for (Rank distance = 1; distance < call.procs; ++distance) {
    builder.recv(call.down(distance), Range(Buffer::output, call.down(distance)));
    builder.send(call.up(distance), Range(Buffer::input, call.up(distance)));
  }
  builder.copy(Range(Buffer::input, call.rank), Range(Buffer::output, call.rank));
}

}  // namespace

extern constinit const Algorithm alltoall_linear = {
    .name = "linear",
    .summary = "Every rank issues all sends at once, beginning with the rank above it.",
    .source = "folklore",
    .collectives = {Collective::alltoall, Collective::alltoallv, Collective::alltoallw},
    .rounds = "1",
    .generate = generate_alltoall_linear,
};

}  // namespace convene::collective
