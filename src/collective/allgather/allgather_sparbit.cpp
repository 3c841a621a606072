// SPDX-License-Identifier: BSD-3-Clause
// Sparbit (stripe parallel binomial trees): P binomial broadcasts at once, one per block, over distances that
// halve. The first rounds send few blocks far, the last round sends half of all blocks to the next rank: most
// data moves over the shortest distances, and with ranks mapped sequentially few bytes leave a node.
//
// Source:   Loch 2021, chapter 4, Algorithm 1 (the listing's ignore_vector is its ignore_steps; line 11 sends
//           to (rank + d) mod p).
// Requires: nothing.
// Cost:     ⌈log₂P⌉ rounds, P − 1 blocks per rank; a round's blocks are scattered: one message each (P − 1 in
//           all), or joined (parameter send). (P − 1 − ⌈log₂P⌉)τ + ⌈log₂P⌉α + (P − 1)(m/P)β.
//
//            before      round 0     round 1                   (distances 2, 1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . * .     0 * 0 *
//   block 1  . 1 . .     . 1 . *     * 1 * 1
//   block 2  . . 2 .     * . 2 .     2 * 2 *
//   block 3  . . . 3     . * . 3     * 3 * 3       (* arrives in this round)
//
//            before      round 0     round 1     round 2       (distances 4, 2, 1; in rounds 1 and 2
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4      each rank keeps one block back)
//   block 0  0 . . . .   0 . . . *   0 . * . 0   0 * 0 * 0
//   block 1  . 1 . . .   * 1 . . .   1 1 . * .   1 1 * 1 *
#include <algorithm>
#include <bit>

#include "collective/allgather/allgather_blocks.hpp"

namespace convene::collective {
namespace {

enum class Send : std::int64_t { joined, blocks, packed, datatype, batch };

/// Number of blocks per message, and how they are transferred, for a round of `count` blocks.
struct Grouping {
  Rank blocks;
  Transfer transfer;
};

Grouping grouping(Send send, Rank batch, Rank count) {
  switch (send) {
    case Send::blocks:
      return {1, Transfer::automatic};
    case Send::packed:
      return {count, Transfer::packed};
    case Send::datatype:
      return {count, Transfer::datatype};
    case Send::batch:
      return {batch, Transfer::packed};
    case Send::joined:
      break;
  }
  return {count, Transfer::automatic};
}

/// The distances at which a rank keeps one block back, as a set of bits: sending it would deliver it a second
/// time. Below and at the lowest set bit of P they are P's own bits, above it P's bits inverted.
Rank keeping_distances(Rank procs) {
  const int lowest = std::countr_zero(procs);
  return (~(procs >> lowest) | 1) << lowest;
}

void generate_allgather_sparbit(const Call& call, Builder& builder) {
  const auto send = static_cast<Send>(call.parameters[0]);
  const auto batch = static_cast<Rank>(call.parameters[1]);
  const Rank keeping = keeping_distances(call.procs);
  place_own_block(call, builder);
  Rank round = 0, held = 1;
  for (Rank distance = std::bit_ceil(call.procs) / 2; distance > 0; distance /= 2, ++round) {
    const Rank count = held - ((distance & keeping) != 0);
    // The rank holds its own block and those 2d, 4d, … below; a range steps upwards, so its stride is P − 2d.
    const Rank stride = (2 * call.procs - 2 * distance) % call.procs;
    const Grouping group = grouping(send, batch, count);
    builder.round(round);
    for (Rank done = 0; done < count; done += group.blocks) {
      const Rank now = std::min(group.blocks, count - done);
      const auto below = static_cast<Rank>(std::uint64_t{done} * stride % call.procs);
      const Range mine(Buffer::output, (call.rank + below) % call.procs, now, stride);
      const Range theirs(Buffer::output, (call.down(distance) + below) % call.procs, now, stride);
      builder.send(call.up(distance), done == 0 && now == 1 ? own_input() : mine, group.transfer);
      builder.recv(call.down(distance), theirs, group.transfer);
    }
    held += count;
  }
}

constexpr Parameter allgather_sparbit_parameters[] = {
    {.name = "send",
     .summary = "non-contiguous blocks of a round: joined into one message (packed, or by datatype if large "
                "and faster), one message each, packed, by datatype, or in batches",
     .fallback = 1,
     .words = {"joined", "blocks", "packed", "datatype", "batch"},
     .samples = {0, 1, 2, 3, 4}},
    {.name = "batch",
     .summary = "blocks per message with send=batch (γ of the source)",
     .fallback = 8,
     .least = 1,
     .most = 1 << 20,
     .samples = {2, 3}}};

}  // namespace

extern constinit const Algorithm allgather_sparbit = {
    .name = "sparbit",
    .summary =
        "P concurrent binomial trees over halving distances: most data moves over the shortest distances.",
    .source = "Loch 2021, chapter 4, Algorithm 1",
    .collectives = allgathers,
    .symmetry = Symmetry::rotation,
    .rounds = "⌈log₂P⌉",
    .parameters = allgather_sparbit_parameters,
    .generate = generate_allgather_sparbit,
};

}  // namespace convene::collective
