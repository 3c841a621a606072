// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: partners at distance 1, 2, 4, … exchange their partial sums and combine them. Both use
// the lower rank's sum as the left operand, also for commutative operators: so all ranks get the same bits.
// If the number of processes is no power of two, each excess rank first combines with a neighbour.
//
// Source:   Thakur, Rabenseifner, Gropp 2005, section 4.5.
// Requires: nothing. Keeps the order.
// Cost:     ⌊log₂P⌋ rounds (two more if P is no power of two) of the whole vector; up to two vectors of extra
//           memory.
//
//            before         round 0          round 1
//   rank     0  1  2  3     0  1  2  3       0   1   2   3
//   vector   0  1  2  3     01 01 23 23      all all all all
//
// With P = 5, rank 1 sends its vector to rank 0 first and receives the sum from it at the end.
#include <bit>

#include "collective/parts/folding.hpp"

namespace convene::collective {
namespace {

void generate_allreduce_recursive_doubling(const Call& call, Builder& builder) {
  const Folding folding{call.procs, std::bit_floor(call.procs)};
  const std::vector<Place> vector = run_of_places(0);
  const Rank own = folding.core(call.rank);
  const bool folds = folding.pairs() > 0;
  Partial partial(call, builder, 1,
                  {.at_output = true, .keeps_order = true, .above = folding.above(call.rank)});
  folding.fold(call.rank, partial, vector);
  std::uint32_t round = folds ? 1 : 0;
  for (Rank distance = 1; distance < folding.cores; distance *= 2, ++round) {
    if (!folding.is_core(call.rank)) continue;
    const Rank partner = own ^ distance;
    builder.round(round);
    partial.send(folding.rank(partner), vector);
    partial.take(folding.rank(partner), vector, partner > own ? OperandOrder::above : OperandOrder::below);
  }
  if (folding.is_core(call.rank)) partial.settle(vector);
  builder.round(round);
  folding.unfold(call.rank, partial, vector);
}

}  // namespace

extern constinit const Algorithm allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "Partners at distance 1, 2, 4, … exchange and combine their partial results.",
    .source = "Thakur, Rabenseifner, Gropp 2005, section 4.5",
    .collectives = {Collective::allreduce},
    .rounds = "⌊log₂P⌋, two more if P is no power of two",
    .generate = generate_allreduce_recursive_doubling,
};

}  // namespace convene::collective
