// SPDX-License-Identifier: BSD-3-Clause
// Binary tree, segmented: every rank has at most two children, and receives their sums in turn, segment by
// segment. The tree is complete: the children of rank v (relative to the root) are 2v + 1 and 2v + 2.
//
// Source:   pipelined binary trees as in Sanders, Speck, Träff 2009, section 2; named in Marendic et al.
//           2016, section 5.7.
// Requires: a commutative operator (its subtrees are not runs of ranks; in reduce_in_order_binary.cpp they
//           are).
// Cost:     about 2(N + ⌊log₂P⌋ − 1) rounds of 1/N vector; two combines of a segment per rank; up to two
//           vectors of extra memory.
//
//   P = 4, root 0:   0 ← 1, 2    1 ← 3          P = 5:   0 ← 1, 2    1 ← 3, 4
#include <bit>

#include "collective/parts/reduction.hpp"
#include "collective/parts/tree_reduce.hpp"

namespace convene::collective {
namespace {

void generate_reduce_binary(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const Rank own = call.relative();
  const auto depth = static_cast<std::uint32_t>(std::bit_width(own + 1) - 1);
  const auto height = static_cast<std::uint32_t>(std::bit_width(call.procs) - 1);
  TreeRole role;
  for (const Rank which : {0u, 1u})
    if (const Rank child = 2 * own + 1 + which; child < call.procs)
      role.children.push_back({call.absolute(child), OperandOrder::above, 2 * (height - depth - 1) + which});
  if (own > 0) {
    const Rank which = (own - 1) % 2;
    role.parent = TreeEdge{call.absolute((own - 1) / 2), OperandOrder::above, 2 * (height - depth) + which};
  }

  Partial partial(call, builder, segments, to_root(call, 0));
  for (Place segment = 0; segment < segments; ++segment) role.pass(builder, partial, segment, segment);
  if (call.is_root()) partial.settle(run_of_places(0, segments));
}

constexpr Parameter reduce_binary_parameters[] = {segments_parameter(16)};

}  // namespace

extern constinit const Algorithm reduce_binary = {
    .name = "binary",
    .summary = "Reduction along a complete binary tree, segment by segment.",
    .source = "Sanders, Speck, Träff 2009, section 2; Marendic et al. 2016, section 5.7",
    .collectives = {Collective::reduce},
    .rounds = "2(N + ⌊log₂P⌋ − 1) of 1/N vector each",
    .parameters = reduce_binary_parameters,
    .commutative_only = true,
    .generate = generate_reduce_binary,
};

}  // namespace convene::collective
