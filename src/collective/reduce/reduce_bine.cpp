// SPDX-License-Identifier: BSD-3-Clause
// Bine tree (binomial negabinary): a binomial tree over the distances 1, −1, 3, −5, …, alternately above and
// below, which are about two thirds of 1, 2, 4, 8, …. A rank sends its sum to its parent in the tree of
// bcast_bine.cpp.
//
// Source:   De Sensi et al. 2025 (SC, arXiv 2508.17311), the tree with distances that halve, in reverse.
// Requires: a power of two, and a commutative operator.
// Cost:     N·log₂P rounds with N segments; one message per rank and segment; up to two vectors of extra memory.
//
//            before         round 0           round 1             (root 0: distances 1, −1)
//   rank     0  1  2  3     0  1  2  3        0   1   2   3
//   vector   0  1  2  3     01 .  .  23       all .   .   .
#include "collective/parts/bine_tree.hpp"
#include "collective/parts/reduction.hpp"

namespace convene::collective {
namespace {

void generate_reduce_bine(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const NegabinaryNode node = bine_node(call);
  const std::uint32_t rounds = bine_rounds(call.procs);
  Partial partial(call, builder, segments, to_root(call, static_cast<std::uint32_t>(node.children.size())));
  for (Place segment = 0; segment < segments; ++segment) {
    const auto label = [&](std::uint32_t round) { return segment * rounds + rounds - 1 - round; };
    for (const NegabinaryNode::Child& child : std::views::reverse(node.children)) {
      builder.round(label(child.round));
      partial.take(call.absolute(child.rank), segment, OperandOrder::above);
    }
    if (call.is_root()) continue;
    builder.round(label(node.round));
    partial.send(call.absolute(node.parent), segment);
  }
  if (call.is_root()) partial.settle(run_of_places(0, segments));
}

constexpr Parameter reduce_bine_parameters[] = {segments_parameter(1)};

}  // namespace

extern constinit const Algorithm reduce_bine = {
    .name = "bine",
    .summary =
        "A binomial tree over the negabinary distances 1, 1, 3, …: about two thirds of a binomial tree's.",
    .source = "De Sensi et al. 2025 (arXiv 2508.17311)",
    .collectives = {Collective::reduce},
    .requirement = Requirement::power_of_two,
    .rounds = "N·log₂P of 1/N vector each",
    .parameters = reduce_bine_parameters,
    .commutative_only = true,
    .generate = generate_reduce_bine,
};

}  // namespace convene::collective
