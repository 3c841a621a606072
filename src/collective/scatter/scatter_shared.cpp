// SPDX-License-Identifier: BSD-3-Clause
// Scatter through shared memory: the root writes every other rank's block into two shared places of that rank
// in turn, and each rank copies its block from there. The root does not wait for the ranks unless blocks have
// more than two segments.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes; flat fan-out).
// Requires: all processes on one node.
// Cost:     no message; 2N rounds with N segments; the root writes P blocks, each other rank copies one;
//           2(P − 1) shared places.
//
//            before      round 0: the root    round 1     (root 1, one segment)
//   rank     0 1 2 3     writes into          0 1 2 3
//   block 0  . 0 . .     place 0 of rank 0    * 0 . .
//   block 1  . 1 . .                          . 1 . .
//   block 2  . 2 . .     place 0 of rank 2    . 2 * .
//   block 3  . 3 . .     place 0 of rank 3    . 3 . *     (* is copied in this round)
//
//   P = 5: rank 4 does as rank 3.
#include "collective/shm/beside_root.hpp"

namespace convene::collective {
namespace {

void put_at_root(std::uint32_t segment, std::uint32_t segments, const Call& call, Builder& builder) {
  builder.round(2 * segment);
  for (Rank above = 1; above < call.procs; ++above) {
    const Rank rank = call.up(above);
    const Range place = place_beside_root(rank, segment, call);
    if (segment >= turns) builder.recv(rank, place);
    builder.copy(Range(Buffer::input, rank * segments + segment), place);
    builder.send(rank, place);
  }
}

void take_beside_root(std::uint32_t segment, std::uint32_t segments, const Call& call, Builder& builder) {
  const Range place = place_beside_root(call.rank, segment, call);
  builder.round(2 * segment + 1);
  builder.recv(call.root, place);
  builder.copy(place, Range(Buffer::output, segment));
  if (comes_again(segment, segments)) builder.send(call.root, place);
}

void generate_scatter_shared(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  for_each_segment(
      call, [&](std::uint32_t segment) { put_at_root(segment, segments, call, builder); },
      [&](std::uint32_t segment) { take_beside_root(segment, segments, call, builder); });
  if (call.is_root())
    builder.copy(Range(Buffer::input, call.rank * segments, segments), Range(Buffer::output, 0, segments));
}

constexpr Parameter scatter_shared_parameters[] = {shared_segments(1, "number of segments of a block")};

}  // namespace

extern constinit const Algorithm scatter_shared = flat_at_root({
    .name = "shared",
    .summary = "The root writes the blocks into shared memory; every rank copies its own from there.",
    .source = "Graham and Shipman 2008",
    .collectives = {Collective::scatter},
    .rounds = "2N, N segments",
    .parameters = scatter_shared_parameters,
    .generate = generate_scatter_shared,
});

}  // namespace convene::collective
