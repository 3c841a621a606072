// SPDX-License-Identifier: BSD-3-Clause
// Allgather through shared memory: every rank writes its block into one of its two shared places, all ranks
// synchronise by dissemination, and each copies the blocks of all others.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes).
// Requires: all processes on one node.
// Cost:     no message; N(⌈log₂P⌉ + 1) rounds with N segments, with one signal per rank in each but the last:
//           each rank copies its block once more and P − 1 others once; 2P shared places.
//
//            before      round 2 (after two rounds of signals)
//   rank     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * * *
//   block 1  . 1 . .     * 1 * *
//   block 2  . . 2 .     * * 2 *
//   block 3  . . . 3     * * * 3       (* is copied in this round)
//
//   P = 5 has a third round of signals.
#include "collective/shm/shm.hpp"

namespace convene::collective {
namespace {

void generate_allgather_shared(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  Rank round = 0;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const auto at = [&](Rank rank, Rank count) {
      return Range(Buffer::output, rank * segments + segment, count, segments);
    };
    const auto from = [&](Rank rank, Rank count) {
      return Range(Buffer::shared, rank * turns + segment % turns, count, turns);
    };
    builder.round(round);
    builder.copy(Range(Buffer::input, segment), from(call.rank, 1));
    builder.copy(Range(Buffer::input, segment), Range(Buffer::output, call.rank * segments + segment));
    round = signal_around(call, turns, round, builder);
    builder.round(round++);
    builder.copy(from(0, call.rank), at(0, call.rank));
    builder.copy(from(call.rank + 1, call.procs - call.rank - 1),
                 at(call.rank + 1, call.procs - call.rank - 1));
  }
}

std::uint64_t allgather_places(Rank procs, std::span<const Value>) { return std::uint64_t{turns} * procs; }

constexpr Parameter allgather_shared_parameters[] = {shared_segments(1, "number of segments of a block")};

}  // namespace

extern constinit const Algorithm allgather_shared = {
    .name = "shared",
    .summary = "Every rank writes its block into shared memory, signals the others, and copies their blocks.",
    .source = "Graham and Shipman 2008",
    .collectives = {Collective::allgather},
    .rounds = "N(⌈log₂P⌉ + 1), N segments",
    .parameters = allgather_shared_parameters,
    .shared_places = allgather_places,
    .generate = generate_allgather_shared,
};

}  // namespace convene::collective
