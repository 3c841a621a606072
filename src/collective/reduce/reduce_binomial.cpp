// SPDX-License-Identifier: BSD-3-Clause
// Binomial reduce: in round k every second one of the remaining ranks sends its partial result 2^k ranks
// down. The subtree of a rank's next child directly follows the ranks that it has combined so far, so the
// order is kept. With several segments the tree is a pipeline: a rank receives segment s from its children
// while its parent combines segment s − 1.
//
// Source:   Marendic et al. 2016, section 5.5.1 and appendix A.
// Requires: nothing. Keeps the order: if the operator does not commute and the root is not rank 0, the result
//           takes one more message from rank 0 to the root.
// Cost:     ⌈log₂P⌉ rounds (+ 1), ⌈log₂P⌉ combines of the vector at the root; up to two vectors of extra
//           memory.
//
//            before        round 0        round 1
//   rank     0 1 2 3       0  1 2  3      0    1 2  3
//   vector   0 1 2 3       01 . 23 .      0123 . .  .        (what is combined; . has been sent)
//
// For P = 5 rank 4 sends in round 2.
#include <bit>

#include "collective/parts/reduction.hpp"

namespace convene::collective {
namespace {

void generate_reduce_binomial(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const Numbering numbering{call};
  const Rank own = numbering.own();
  const auto levels = static_cast<Rank>(std::bit_width(call.procs - 1));
  const Rank level = own == 0 ? levels : static_cast<Rank>(std::countr_zero(own));  // children are below it
  Rank children = 0;
  while (children < level && own + (Rank{1} << children) < call.procs) ++children;

  Partial partial(call, builder, segments, to_root(call, children));
  for (Place segment = 0; segment < segments; ++segment) {
    for (Rank child = 0; child < children; ++child) {
      builder.round(segment * levels + child);
      partial.take(numbering.rank(own + (Rank{1} << child)), segment, OperandOrder::above);
    }
    builder.round(segment * levels + level);
    if (own != 0) partial.send(numbering.rank(own - (Rank{1} << level)), segment);
    builder.round((segment + 1) * levels);
    numbering.pass_on(partial, segment);
  }
  if (call.is_root()) partial.settle(run_of_places(0, segments));
}

constexpr Parameter reduce_binomial_parameters[] = {segments_parameter(1)};

}  // namespace

extern constinit const Algorithm reduce_binomial = {
    .name = "binomial",
    .summary = "Reduction along a binomial tree: in each round, every second rank sends its partial result.",
    .source = "Marendic et al. 2016, section 5.5.1 and appendix A",
    .collectives = {Collective::reduce},
    .rounds = "N⌈log₂P⌉ of 1/N vector each; one more from rank 0 to the root for non-commutative operators",
    .parameters = reduce_binomial_parameters,
    .generate = generate_reduce_binomial,
};

}  // namespace convene::collective
