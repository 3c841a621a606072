// SPDX-License-Identifier: BSD-3-Clause
// Allgather through shared memory: every rank writes its block into one of its two shared places, signals the
// others, and copies the blocks of all others. Few ranks signal to each other directly; many synchronise by
// dissemination.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes).
// Requires: all processes on one node. Blocks may differ in size: each has shared places of its own.
// Cost:     no message; 2P shared places; each rank copies its block once more and P − 1 others once. Direct
//           signals: 2N rounds with N segments, P − 1 signals per rank and segment, and as many that return a
//           place. Dissemination: N(⌈log₂P⌉ + 1) rounds with one signal per rank in each but the last.
//
//   direct   round 0                                round 1
//   rank 0   place 0 = own block, signals to all    copies places 1, 2 and 3    (P = 4; P = 5 in the same way)
//
//   dissemination:
//            before      round 2 (after two rounds of signals)
//   rank     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * * *
//   block 1  . 1 . .     * 1 * *
//   block 2  . . 2 .     * * 2 *
//   block 3  . . . 3     * * * 3       (* is copied in this round)
//
//   P = 5 has a third round of signals.
#include "collective/allgather/allgather_blocks.hpp"
#include "collective/shm/shm.hpp"

namespace convene::collective {
namespace {

/// Segment `segment` of `count` blocks from that of a rank on.
Range segment_of_blocks(Rank rank, std::uint32_t segment, std::uint32_t segments, Rank count = 1) {
  return Range(Buffer::output, rank * segments + segment, count, segments);
}

void put_block(std::uint32_t segment, std::uint32_t segments, const Call& call, Builder& builder) {
  builder.copy(Range(Buffer::input, segment), shared_place(call.rank, segment));
  builder.copy(Range(Buffer::input, segment), Range(Buffer::output, call.rank * segments + segment));
}

/// Both ranks of a pair give their signals in the order in which the other awaits them: two segments' data,
/// then in turn the return of a place and the next segment's data.
void signal_directly(std::uint32_t segments, const Call& call, Builder& builder) {
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const Range own = shared_place(call.rank, segment);
    const auto for_each_other = [&](auto&& visit) {
      for (Rank distance = 1; distance < call.procs; ++distance) visit(call.down(distance));
    };
    builder.round(2 * segment);
    if (segment >= turns) {
      for_each_other([&](Rank peer) { builder.send(peer, shared_place(peer, segment)); });
      for_each_other([&](Rank peer) { builder.recv(peer, own); });
    }
    put_block(segment, segments, call, builder);
    for_each_other([&](Rank peer) { builder.send(peer, own); });
    builder.round(2 * segment + 1);
    for_each_other([&](Rank peer) {
      builder.recv(peer, shared_place(peer, segment));
      builder.copy(shared_place(peer, segment), segment_of_blocks(peer, segment, segments));
    });
  }
}

void disseminate(std::uint32_t segments, const Call& call, Builder& builder) {
  Rank round = 0;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const auto from = [&](Rank rank, Rank count) {
      return Range(Buffer::shared, rank * turns + segment % turns, count, turns);
    };
    builder.round(round);
    put_block(segment, segments, call, builder);
    round = signal_around(call, turns, round, builder);
    builder.round(round++);
    const Rank above = call.procs - call.rank - 1;
    builder.copy(from(0, call.rank), segment_of_blocks(0, segment, segments, call.rank));
    builder.copy(from(call.rank + 1, above), segment_of_blocks(call.rank + 1, segment, segments, above));
  }
}

bool is_direct(Rank procs, std::span<const Value> parameters) { return procs <= parameters[1]; }

void generate_allgather_shared(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  is_direct(call.procs, call.parameters) ? signal_directly(segments, call, builder)
                                         : disseminate(segments, call, builder);
}

std::uint64_t allgather_places(Rank procs, std::span<const Value>) { return std::uint64_t{turns} * procs; }

Rank owner_of_place(Place place) { return place / turns; }

bool allgather_can_carry(Rank procs, std::span<const Value> parameters) {
  return is_direct(procs, parameters) && has_one_segment(procs, parameters);
}

constexpr Parameter allgather_shared_parameters[] = {
    shared_segments(1, "number of segments of a block", {1, 2, 4}),
    {.name = "direct",
     .summary = "maximum number of ranks that signal to each other directly; more use dissemination",
     .fallback = 8,
     .least = 1,
     .most = 1024,
     .samples = {1, 16}}};

}  // namespace

extern constinit const Algorithm allgather_shared = {
    .name = "shared",
    .summary = "Every rank writes its block into shared memory, signals the others, and copies their blocks.",
    .source = "Graham and Shipman 2008",
    .collectives = allgathers,
    .rounds = "2N or, with many ranks, N(⌈log₂P⌉ + 1), N segments",
    .parameters = allgather_shared_parameters,
    .shared_places = allgather_places,
    .block_in_place = owner_of_place,
    .signals_can_carry = allgather_can_carry,
    .generate = generate_allgather_shared,
};

}  // namespace convene::collective
