// SPDX-License-Identifier: BSD-3-Clause
// Parallel aggregated trees (PAT): a binomial broadcast of every block, all at once, over distances that
// halve. The blocks of a round that go to the same rank are one message. A limit on the blocks of a message
// bounds the memory in flight: the near distances, which carry most blocks, then take several rounds.
//
// Source:   Jeaugey 2025 (arXiv 2506.20252); NCCL 2.23 and later.
// Requires: nothing.
// Cost:     P − 1 blocks per rank. Without a limit ⌈log₂P⌉ rounds and messages; with at most A blocks in a
//           message log₂A + N/A − 1 rounds, N = P rounded up to a power of two (P − 1 with A = 1).
//
//            before      round 0     round 1                   (distances 2, 1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . * .     0 * 0 *
//   block 1  . 1 . .     . 1 . *     * 1 * 1
//   block 2  . . 2 .     * . 2 .     2 * 2 *
//   block 3  . . . 3     . * . 3     * 3 * 3       (* arrives in this round)
//
//            before      round 0     round 1     round 2       (distances 4, 2, 1)
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 . . . *   0 . * . 0   0 * 0 * 0
//   block 1  . 1 . . .   * 1 . . .   1 1 . * .   1 1 * 1 *
#include "collective/allgather/allgather_blocks.hpp"
#include "collective/parts/aggregation.hpp"

namespace convene::collective {
namespace {

std::vector<Range> in_output(const std::vector<Place>& places) {
  std::vector<Range> ranges;
  for (const Place place : places) append(ranges, Buffer::output, place);
  return ranges;
}

void generate_allgather_aggregated_trees(const Call& call, Builder& builder) {
  place_own_block(call, builder);
  std::uint32_t label = 0;
  for (const patterns::AggregatedRound& round : rounds_of_trees(call)) {
    const Rank from = call.down(round.distance);
    builder.round(label++);
    if (round.offsets.size() == 1 && round.offsets[0] == 0)
      builder.send(call.up(round.distance), own_input());
    else
      builder.send(call.up(round.distance), in_output(blocks_below(call.rank, round, call.procs)));
    builder.recv(from, in_output(blocks_below(from, round, call.procs)));
  }
}

constexpr Parameter allgather_aggregated_trees_parameters[] = {aggregation_parameter};

}  // namespace

extern constinit const Algorithm allgather_aggregated_trees = {
    .name = "aggregated_trees",
    .summary =
        "P concurrent binomial trees, far distances first, with at most as many blocks in a message as "
        "memory allows.",
    .source = "Jeaugey 2025 (arXiv 2506.20252)",
    .collectives = allgathers,
    .symmetry = Symmetry::rotation,
    .rounds = "⌈log₂P⌉; log₂A + N/A − 1 with at most A blocks in a message",
    .parameters = allgather_aggregated_trees_parameters,
    .generate = generate_allgather_aggregated_trees,
};

}  // namespace convene::collective
