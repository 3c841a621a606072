// SPDX-License-Identifier: BSD-3-Clause
// Dissemination barrier with fan-out k: in each round every rank signals the k ranks n, 2n, …, kn above,
// where n is the number of ranks whose arrival it knows of. A signal represents all of these; blocks are
// zero-byte messages.
//
// Source:   Hensgen, Finkel and Manber 1988; n-way: Viertel, sections 6.1 and 6.7 (after Hoefler).
// Requires: nothing.
// Cost:     ⌈log_{k+1} P⌉ rounds of up to k empty messages per rank.
//
//            before      round 0     round 1                   (k = 1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * *
//   block 1  . 1 . .     . 1 * .     * 1 1 *
//   block 2  . . 2 .     . . 2 *     * * 2 2
//   block 3  . . . 3     * . . 3     3 * * 3       (* arrives in this round)
#include <algorithm>

#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

/// The `count` zero-byte blocks that end with that of rank `last`.
Range zero_byte_blocks(const Call& call, Rank last, Rank count) {
  return Range(Buffer::output, (last + call.procs + 1 - count) % call.procs, count);
}

void generate_barrier_dissemination(const Call& call, Builder& builder) {
  const auto fanout = static_cast<Rank>(call.parameters[0]);
  builder.copy(Range(Buffer::input, 0), Range(Buffer::output, call.rank));
  Rank round = 0;
  for (Rank heard = 1; heard < call.procs; ++round) {
    builder.round(round);
    Rank next = heard;
    for (Rank port = 0; port < fanout && next < call.procs; ++port) {
      const Rank count = std::min(heard, call.procs - next);
      builder.send(call.up(next), zero_byte_blocks(call, call.rank, count));
      builder.recv(call.down(next), zero_byte_blocks(call, call.down(next), count));
      next += count;
    }
    heard = next;
  }
}

constexpr Parameter barrier_dissemination_parameters[] = {
    {.name = "fanout",
     .summary = "messages that a rank sends in a round (k)",
     .fallback = 1,
     .least = 1,
     .most = 1024,
     .samples = {1, 2, 3, 7}}};

}  // namespace

extern constinit const Algorithm barrier_dissemination = {
    .name = "dissemination",
    .summary =
        "Every rank that knows of n arrivals sends empty messages to the k ranks n, 2n, …, kn above it.",
    .source = "Hensgen et al. 1988; Viertel 2007, sections 6.1 and 6.7",
    .collectives = {Collective::barrier},
    .symmetry = Symmetry::rotation,
    .rounds = "⌈log_{k+1} P⌉",
    .parameters = barrier_dissemination_parameters,
    .generate = generate_barrier_dissemination,
};

}  // namespace convene::collective
