// SPDX-License-Identifier: BSD-3-Clause
// Reduce + broadcast: sums go up a binomial tree to rank 0, and the result down the same tree again. One rank
// computes the sum, so all ranks get the same bits.
//
// Source:   folklore; Proficz 2018, section 2 (as a baseline).
// Requires: nothing. Keeps the order.
// Cost:     2⌈log₂P⌉ rounds of the whole vector; with N segments the trees are pipelines; up to two vectors
//           of extra memory.
//
//            before         round 0          round 1          round 2          round 3
//   rank     0  1  2  3     0  1  2  3       0   1  2  3      0   1  2   3     0   1   2   3
//   vector   0  1  2  3     01 .  23 .       all .  .  .      all .  all .     all all all all
//
// P = 5 adds rank 4 as a third child of rank 0.
#include <bit>

#include "collective/parts/reduction.hpp"

namespace convene::collective {
namespace {

void generate_allreduce_reduce_bcast(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const auto levels = static_cast<Rank>(std::bit_width(call.procs - 1));
  const Rank level = call.rank == 0 ? levels : static_cast<Rank>(std::countr_zero(call.rank));
  const Rank parent = call.rank - (call.rank & -call.rank);
  Rank children = 0;
  while (children < level && call.rank + (Rank{1} << children) < call.procs) ++children;
  const auto child = [&](Rank which) { return call.rank + (Rank{1} << which); };

  Partial partial(call, builder, segments,
                  {.at_output = true, .keeps_order = !call.commutative, .above = children});
  for (Place segment = 0; segment < segments; ++segment) {
    for (Rank which = 0; which < children; ++which) {
      builder.round(segment * levels + which);
      partial.take(child(which), segment, OperandOrder::above);
    }
    builder.round(segment * levels + level);
    if (call.rank != 0) partial.send(parent, segment);
  }
  if (call.rank == 0) partial.settle(run_of_places(0, segments));
  for (Place segment = 0; segment < segments; ++segment) {
    const std::uint32_t first = (segments + segment) * levels;
    builder.round(first + levels - 1 - level);  // rounds on the way down are those on the way up in reverse
                                                // order
    if (call.rank != 0) partial.replace(parent, segment);
    for (Rank which = children; which-- > 0;) {
      builder.round(first + levels - 1 - which);
      partial.send(child(which), segment);
    }
  }
}

constexpr Parameter allreduce_reduce_bcast_parameters[] = {segments_parameter(1)};

}  // namespace

extern constinit const Algorithm allreduce_reduce_bcast = {
    .name = "reduce_bcast",
    .summary =
        "Reduction along a binomial tree to rank 0, and a broadcast of the result along the same tree.",
    .source = "folklore; Proficz 2018, section 2",
    .collectives = {Collective::allreduce},
    .rounds = "2N⌈log₂P⌉ of 1/N vector each",
    .parameters = allreduce_reduce_bcast_parameters,
    .generate = generate_allreduce_reduce_bcast,
};

}  // namespace convene::collective
