// SPDX-License-Identifier: BSD-3-Clause
// Parallel aggregated trees (PAT): a binomial reduction of every block, all at once, over distances that
// double: the allgather of that name in reverse. A limit on the blocks of a message bounds the memory in
// flight: the near distances, which carry most blocks, then take several rounds.
//
// Source:   Jeaugey 2025 (arXiv 2506.20252); NCCL 2.23 and later.
// Requires: a commutative operator: each sum starts at a different rank.
// Cost:     P − 1 blocks sent and combined. Without a limit ⌈log₂P⌉ rounds and messages; with at most A blocks
//           in a message log₂A + N/A − 1 rounds, N = P rounded up to a power of two (P − 1 with A = 1). Up to
//           two vectors of extra memory: the buffers of the source, which the limit bounds, are not modelled.
//
//            before         round 0           round 1             (distances 1, 2)
//   rank     0  1  2  3     0  1  2  3        0   1   2   3
//   block 0  0  1  2  3     01 .  23 .        all .   .   .
//   block 1  0  1  2  3     .  12 .  03       .   all .   .
//   block 2  0  1  2  3     01 .  23 .        .   .   all .
//   block 3  0  1  2  3     .  12 .  03       .   .   .   all
//
// P = 5 takes the distances 1, 2, 4: rank r sends the blocks r − 1 and r − 3, then r − 2, then r − 4.
#include <ranges>

#include "collective/parts/aggregation.hpp"
#include "collective/reduce_scatter/reduce_scatters.hpp"

namespace convene::collective {
namespace {

void generate_reduce_scatter_aggregated_trees(const Call& call, Builder& builder) {
  Partial partial(call, builder, call.procs, {});
  std::uint32_t label = 0;
  const std::vector<patterns::AggregatedRound> rounds = rounds_of_trees(call);
  for (const patterns::AggregatedRound& round : std::views::reverse(rounds)) {
    const Rank to = call.down(round.distance);
    builder.round(label++);
    partial.send(to, blocks_below(to, round, call.procs));
    partial.take(call.up(round.distance), blocks_below(call.rank, round, call.procs), OperandOrder::above);
  }
  const Range own_block[] = {own_result()};
  builder.copy(partial.at(run_of_places(call.rank)), own_block);
}

constexpr Parameter reduce_scatter_aggregated_trees_parameters[] = {aggregation_parameter};

}  // namespace

extern constinit const Algorithm reduce_scatter_aggregated_trees = {
    .name = "aggregated_trees",
    .summary =
        "P concurrent binomial reductions, near distances first, with at most as many blocks in a message "
        "as memory allows.",
    .source = "Jeaugey 2025 (arXiv 2506.20252)",
    .collectives = reduce_scatters,
    .rounds = "⌈log₂P⌉; log₂A + N/A − 1 with at most A blocks in a message",
    .parameters = reduce_scatter_aggregated_trees_parameters,
    .commutative_only = true,
    .generate = generate_reduce_scatter_aggregated_trees,
};

}  // namespace convene::collective
