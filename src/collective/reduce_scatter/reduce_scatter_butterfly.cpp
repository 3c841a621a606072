// SPDX-License-Identifier: BSD-3-Clause
// Butterfly: partners at distance 1, 2, 4, … halve their common run of blocks, and each receives the other's
// contribution to its half. So halves stay runs of blocks, and sums are over adjacent ranks; but the blocks
// end at the ranks with bit-reversed numbers, and one more message moves them to their targets. If the number
// of processes is no power of two, each excess rank first combines with a neighbour, and the pair shares a
// part of two blocks.
//
// Source:   Träff 2005 (an improved algorithm for non-commutative reduce-scatter), section 3, with pairs as
//           in Rabenseifner 2004, section 4, for other numbers of processes.
// Requires: nothing. Keeps the order.
// Cost:     ⌊log₂P⌋ + 1 rounds (one more if P is no power of two), P − 1 blocks sent and combined and at most
//           two more sent to their targets; up to two vectors of extra memory.
//
//            before         round 0          round 1              round 2
//   rank     0  1  2  3     0  1  2  3       0   1   2   3        0   1   2   3
//   block 0  0  1  2  3     01 .  23 .       all .   .   .        all .   .   .
//   block 1  0  1  2  3     01 .  23 .       .   .   all .        .   all .   .
//   block 2  0  1  2  3     .  01 .  23      .   all .   .        .   .   all .
//   block 3  0  1  2  3     .  01 .  23      .   .   .   all      .   .   .   all
//
// With P = 5, ranks 0 and 1 are a pair: rank 1 sends rank 0 its vector first, ranks 0, 2, 3, 4 continue as
// above with blocks 0 and 1 as one part, and rank 0 finally sends block 1 to rank 1.
#include <algorithm>
#include <bit>

#include "collective/parts/folding.hpp"
#include "collective/reduce_scatter/reduce_scatters.hpp"

namespace convene::collective {
namespace {

/// The number of the core that finally has a core's part of the sum, and the inverse.
Rank reversed(Rank number, Rank cores) {
  Rank result = 0;
  for (Rank bit = 1; bit < cores; bit *= 2) result = 2 * result + ((number & bit) != 0);
  return result;
}

/// The blocks of the cores `first` … first + count − 1, and of their partners: a run.
std::vector<Place> blocks_of_cores(const Folding& folding, Rank first, Rank count) {
  const auto begin = [&](Rank core) { return core + std::min(core, folding.pairs()); };
  return run_of_places(begin(first), begin(first + count) - begin(first));
}

void halve(const Folding& folding, Rank own, std::uint32_t round, Builder& builder, Partial& partial) {
  Rank first = 0, count = folding.cores;
  for (Rank distance = 1; distance < folding.cores; distance *= 2, ++round) {
    const Rank partner = own ^ distance;
    count /= 2;
    const Rank lower = first, upper = first + count;
    const bool keeps_lower = partner > own;
    first = keeps_lower ? lower : upper;
    builder.round(round);
    partial.send(folding.rank(partner), blocks_of_cores(folding, keeps_lower ? upper : lower, count));
    partial.take(folding.rank(partner), blocks_of_cores(folding, first, count),
                 keeps_lower ? OperandOrder::above : OperandOrder::below);
  }
}

void generate_reduce_scatter_butterfly(const Call& call, Builder& builder) {
  const Folding folding{call.procs, std::bit_floor(call.procs)};
  const Rank own = folding.core(call.rank);
  const auto levels = static_cast<std::uint32_t>(std::bit_width(folding.cores) - 1);
  const std::uint32_t folds = folding.pairs() > 0 ? 1 : 0;
  Partial partial(call, builder, call.procs,
                  {.keeps_order = !call.commutative, .above = folding.above(call.rank)});
  folding.fold(call.rank, partial, run_of_places(0, call.procs));
  if (folding.is_core(call.rank)) halve(folding, own, folds, builder, partial);

  builder.round(folds + levels);
  const Rank holder = folding.rank(reversed(own, folding.cores));  // of the own block's sum
  if (folding.is_core(call.rank))
    for (const Place block : blocks_of_cores(folding, reversed(own, folding.cores), 1))
      if (block != call.rank) partial.send(block, block);
  if (holder != call.rank) return builder.recv(holder, own_result());
  const Range own_block[] = {own_result()};
  builder.copy(partial.at(run_of_places(call.rank)), own_block);
}

}  // namespace

extern constinit const Algorithm reduce_scatter_butterfly = {
    .name = "butterfly",
    .summary =
        "Partners at distance 1, 2, 4, … halve runs of blocks; one more message delivers each block to its "
        "rank.",
    .source = "Träff 2005, section 3; Rabenseifner 2004, section 4",
    .collectives = reduce_scatters,
    .rounds = "⌊log₂P⌋ + 1, one more if P is no power of two",
    .generate = generate_reduce_scatter_butterfly,
};

}  // namespace convene::collective
