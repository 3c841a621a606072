// SPDX-License-Identifier: BSD-3-Clause
// Gather through shared memory: every rank but the root writes its block into its two shared places in turn,
// and the root copies the blocks from there.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes; flat fan-in).
// Requires: all processes on one node.
// Cost:     no message; 2N rounds with N segments; each rank writes its block once, the root copies P blocks;
//           2(P − 1) shared places.
//
//            before      round 0              round 1     (root 1, one segment)
//   rank     0 1 2 3     writes into          0 1 2 3
//   block 0  0 . . .     place 0 of rank 0    0 * . .
//   block 1  . 1 . .                          . * . .
//   block 2  . . 2 .     place 0 of rank 2    . * 2 .
//   block 3  . . . 3     place 0 of rank 3    . * . 3     (* is copied in this round)
//
//   P = 5: rank 4 does as rank 3.
#include "collective/shm/beside_root.hpp"

namespace convene::collective {
namespace {

void collect_at_root(std::uint32_t segment, std::uint32_t segments, const Call& call, Builder& builder) {
  builder.round(2 * segment + 1);
  for (Rank above = 1; above < call.procs; ++above) {
    const Rank rank = call.up(above);
    const Range place = place_beside_root(rank, segment, call);
    builder.recv(rank, place);
    builder.copy(place, Range(Buffer::output, rank * segments + segment));
    if (comes_again(segment, segments)) builder.send(rank, place);
  }
}

void generate_gather_shared(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  if (call.is_root())
    builder.copy(Range(Buffer::input, 0, segments), Range(Buffer::output, call.rank * segments, segments));
  for_each_segment(
      call, [&](std::uint32_t segment) { collect_at_root(segment, segments, call, builder); },
      [&](std::uint32_t segment) { put_beside_root(segment, call, builder); });
}

constexpr Parameter gather_shared_parameters[] = {shared_segments(1, "number of segments of a block")};

}  // namespace

extern constinit const Algorithm gather_shared = flat_at_root({
    .name = "shared",
    .summary = "Every rank writes its block into shared memory; the root copies the blocks from there.",
    .source = "Graham and Shipman 2008",
    .collectives = {Collective::gather},
    .rounds = "2N, N segments",
    .parameters = gather_shared_parameters,
    .generate = generate_gather_shared,
});

}  // namespace convene::collective
