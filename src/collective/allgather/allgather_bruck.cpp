// SPDX-License-Identifier: BSD-3-Clause
// Bruck with k ports: a rank that holds n consecutive blocks, its own first, receives the next k·n from the k
// ranks n, 2n, …, kn above. Blocks are received in their final places, so no final rotation is needed; a run
// that wraps around the end is two pieces.
//
// Source:   Bruck et al. 1997; Viertel, section 5.3.2 (k ports, both variants of the last round); Loch,
//           section 2.4.4.
// Requires: nothing.
// Cost:     ⌈log_{k+1} P⌉ rounds of up to k messages, P − 1 blocks per rank, no extra memory.
//
//            before      round 0     round 1                   (k = 1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . *     0 * * 0
//   block 1  . 1 . .     * 1 . .     1 1 * *
//   block 2  . . 2 .     . * 2 .     * 2 2 *
//   block 3  . . . 3     . . * 3     * * 3 3       (* arrives in this round)
//
//            before      round 0     round 1     round 2       (the last round lacks only one block of P = 5)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 . . . *   0 . * * 0   0 * 0 0 0
//   block 1  . 1 . . .   * 1 . . .   1 1 . * *   1 1 * 1 1
#include <algorithm>

#include "collective/allgather/allgather_blocks.hpp"

namespace convene::collective {
namespace {

enum class Last : std::int64_t { fewest, balanced };

/// Number of blocks per port. In a full round each port carries all blocks that a rank holds. In the last
/// round, either as many as possible in as few messages as possible, or equal shares of the missing blocks.
Rank share_of_port(Rank held, Rank lacking, Rank ports, Last last) {
  if (lacking >= held * ports || last == Last::fewest) return held;
  return (lacking + ports - 1) / ports;
}

void generate_allgather_bruck(const Call& call, Builder& builder) {
  const auto ports = static_cast<Rank>(call.parameters[0]);
  const auto last = static_cast<Last>(call.parameters[1]);
  const auto wrap = static_cast<Wrap>(call.parameters[2]);
  place_own_block(call, builder);
  Rank round = 0;
  for (Rank held = 1; held < call.procs; ++round) {
    builder.round(round);
    const Rank share = share_of_port(held, call.procs - held, ports, last);
    Rank next = held;
    for (Rank port = 0; port < ports && next < call.procs; ++port) {
      const Rank count = std::min(share, call.procs - next);
      const Range mine = held == 1 ? own_input() : blocks(call.rank, count);
      each_piece(mine, call.procs, wrap, [&](const Range& piece) { builder.send(call.down(next), piece); });
      each_piece(blocks(call.up(next), count), call.procs, wrap,
                 [&](const Range& piece) { builder.recv(call.up(next), piece); });
      next += count;
    }
    held = next;
  }
}

constexpr Parameter allgather_bruck_parameters[] = {
    {.name = "ports",
     .summary = "messages that a rank sends and receives in a round (k)",
     .fallback = 1,
     .least = 1,
     .most = 64,
     .samples = {1, 2, 3, 4, 7}},
    {.name = "last",
     .summary = "the last round: as few messages as possible, or equal shares for all ports",
     .fallback = 0,
     .words = {"fewest", "balanced"},
     .samples = {0, 1}},
    wrap_parameter};

}  // namespace

extern constinit const Algorithm allgather_bruck = {
    .name = "bruck",
    .summary = "A rank that holds n blocks receives k·n more from the ranks n, 2n, …, kn above it.",
    .source = "Bruck et al. 1997; Viertel 2007, section 5.3.2",
    .collectives = allgathers,
    .symmetry = Symmetry::rotation,  // with wrap=message the run is split at a different block on each rank
    .rounds = "⌈log_{k+1} P⌉, k ports",
    .parameters = allgather_bruck_parameters,
    .generate = generate_allgather_bruck,
};

}  // namespace convene::collective
