// SPDX-License-Identifier: BSD-3-Clause
// Segmented ring: the ring with every block cut into N segments, so that a rank forwards the first part of a
// large block while it receives the rest. Meant for allgatherv with very unequal blocks; with equal ones it
// is the ring with smaller messages.
//
// Source:   pipelining as in the linear pipelines of Marendic et al. 2016, on the ring of Loch, section
//           2.4.1.
// Requires: nothing.
// Cost:     N(P − 1) messages and segments per rank, no extra memory. One large block needs P − 2 + N steps
//           of m/N bytes where the ring needs P − 1 of m.
//
//            round 0    round 1    round 2    round 3          (P = 3, N = 2: segments a, b of block 0)
//   rank     0  1  2    0  1  2    0  1  2    0  1  2
//   0a       a  *  .    a  a  .    a  a  *    a  a  a
//   0b       b  .  .    b  *  .    b  b  .    b  b  *          (* arrives in this round)
//
// For P = 5 the two segments are forwarded to ranks 3 and 4 in rounds 4 to 7.
#include "collective/allgather/allgather_blocks.hpp"
#include "collective/parts/pace.hpp"

namespace convene::collective {
namespace {

void generate_allgather_segmented_ring(const Call& call, Builder& builder) {
  const CutBlocks blocks(call.parameters[0]);
  set_pace(call.parameters[1], builder);
  blocks.place_own(call, builder);
  for (Rank round = 0; round + 1 < call.procs; ++round)
    for (Rank segment = 0; segment < blocks.segments(); ++segment) {
      builder.round(round * blocks.segments() + segment);
      builder.send(call.up(), round == 0 ? blocks.own(segment) : blocks.of(call.down(round), segment));
      builder.recv(call.down(), blocks.of(call.down(round + 1), segment));
    }
}

constexpr Parameter allgather_segmented_ring_parameters[] = {segments_of_blocks(8), pace_parameter};

}  // namespace

extern constinit const Algorithm allgather_segmented_ring = {
    .name = "segmented_ring",
    .summary = "A ring with every block cut into segments, which are forwarded as they arrive.",
    .source = "pipelining after Marendic et al. 2016; Loch 2021, section 2.4.1",
    .collectives = allgathers,
    .rounds = "N(P − 1) of 1/N block each",
    .parameters = allgather_segmented_ring_parameters,
    .generate = generate_allgather_segmented_ring,
};

}  // namespace convene::collective
