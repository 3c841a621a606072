// SPDX-License-Identifier: BSD-3-Clause
// Linear pipeline: the ranks are a chain, and the vector moves along it segment by segment. Each rank
// combines its own contribution as the left operand with the sum from above, so the order is kept and nothing
// is copied.
//
// Source:   Marendic et al. 2016, table 3 and section 5.7.
// Requires: nothing. Keeps the order: if the operator does not commute and the root is not rank 0, the chain
//           has one more link from rank 0 to the root.
// Cost:     P − 2 + N rounds (+ 1), N messages and combines of 1/N vector per rank; one vector of extra
//           memory.
//
//            round 0        round 1        round 2        round 3    (P = 4, N = 2, root 0: segments a and b)
//   rank     0  1  2  3     0  1  2  3     0  1  2  3     0  1  2  3
//   a        .  .  23 -     .  123 - -     0123 - - -
//   b                       .  .  23 -     .  123 - -     0123 - - -      (what is combined; - has been sent)
//
// P = 5 starts one round earlier, with rank 4.
#include "collective/parts/reduction.hpp"

namespace convene::collective {
namespace {

void generate_reduce_pipeline(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const Numbering numbering{call};
  const Rank own = numbering.own(), last = call.procs - 1;
  Partial partial(call, builder, segments, to_root(call, own < last ? 1 : 0));
  for (Place segment = 0; segment < segments; ++segment) {
    const Rank links_before = last - own;
    if (own < last) {
      builder.round(segment + links_before - 1);
      partial.take(numbering.rank(own + 1), segment, OperandOrder::above);
    }
    builder.round(segment + links_before);
    if (own > 0) partial.send(numbering.rank(own - 1), segment);
    builder.round(segment + last);
    numbering.pass_on(partial, segment);
  }
  if (call.is_root()) partial.settle(run_of_places(0, segments));
}

constexpr Parameter reduce_pipeline_parameters[] = {segments_parameter(16)};

}  // namespace

extern constinit const Algorithm reduce_pipeline = {
    .name = "pipeline",
    .summary = "Reduction along a chain of all ranks, segment by segment.",
    .source = "Marendic et al. 2016, table 3 (linear pipeline)",
    .collectives = {Collective::reduce},
    .rounds = "P − 2 + N of 1/N vector each; one more from rank 0 to the root for non-commutative operators",
    .parameters = reduce_pipeline_parameters,
    .generate = generate_reduce_pipeline,
};

}  // namespace convene::collective
