// SPDX-License-Identifier: BSD-3-Clause
// Alltoall through shared memory: every rank writes its blocks into places of their pairs, signals their
// targets, and copies the blocks for itself. Each begins with the rank above it, so that not all write for
// the same rank first.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes).
// Requires: all processes on one node.
// Cost:     no message; 2N rounds with N segments; each rank copies P − 1 blocks in and P − 1 out, and signals
//           P − 1 ranks per segment (twice from the third segment on); P(P − 1) shared places, with several
//           segments 2P(P − 1).
//
//   P = 3, one segment, block xy goes from rank x to rank y:
//            round 0: writes     round 1: copies
//   rank     0   1   2           0   1   2
//            01  12  20          20  01  12
//            02  10  21          10  21  02      (the own block is a copy)
#include "collective/shm/pairs.hpp"

namespace convene::collective {
namespace {

void generate_alltoall_shared(const Call& call, Builder& builder) {
  const SharedPairs pairs(call, builder);
  const std::uint32_t segments = pairs.segments();
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const auto output = [&](Rank from) { return Range(Buffer::output, from * segments + segment); };
    builder.round(2 * segment);
    pairs.put(segment);
    builder.copy(pairs.input(call.rank, segment), output(call.rank));
    builder.round(2 * segment + 1);
    for (Rank below = 1; below < call.procs; ++below) {
      const Rank from = call.down(below);
      builder.copy(pairs.take(from, segment), output(from));
    }
  }
}

constexpr Parameter alltoall_shared_parameters[] = {
    shared_segments(1, "number of segments of a block", {1, 3})};

}  // namespace

extern constinit const Algorithm alltoall_shared = {
    .name = "shared",
    .summary = "Every rank writes its blocks into shared memory; their targets copy them from there.",
    .source = "Graham and Shipman 2008",
    .collectives = {Collective::alltoall},
    .rounds = "2N, N segments",
    .parameters = alltoall_shared_parameters,
    .shared_places = SharedPairs::places,
    .signals_can_carry = has_one_segment,
    .generate = generate_alltoall_shared,
};

}  // namespace convene::collective
