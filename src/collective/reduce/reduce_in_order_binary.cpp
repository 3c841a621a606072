// SPDX-License-Identifier: BSD-3-Clause
// In-order binary tree, segmented: the root divides the ranks into those below and those above it, and the
// middle one of each side does the same. The ranks of a child's subtree are all below or all above its
// parent, so the order is kept with any root, and a rank with a child above copies nothing.
//
// Source:   in-order trees as in Sanders, Speck, Träff 2009, section 4.
// Requires: nothing. Keeps the order.
// Cost:     about 2(N + ⌊log₂P⌋) rounds of 1/N vector; two combines of a segment per rank; up to two vectors
//           of extra memory.
//
//   P = 4, root 0:   0 ← 2 (above)    2 ← 1 (below), 3 (above)
//   P = 5, root 2:   2 ← 0 (below), 3 (above)    0 ← 1 (above)    3 ← 4 (above)
#include <algorithm>
#include <bit>

#include "collective/parts/reduction.hpp"
#include "collective/parts/tree_reduce.hpp"

namespace convene::collective {
namespace {

void generate_reduce_in_order_binary(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const auto height =
      static_cast<std::uint32_t>(std::bit_width(std::max(call.root, call.procs - 1 - call.root)));
  const InOrderNode node = in_order_node(call.rank, 0, call.procs, call.root, middle);
  const TreeRole role = role_of(
      node, height, false, [](std::uint32_t rank) { return rank; }, call.rank);

  Partial partial(call, builder, segments, to_root(call, role.above()));
  for (Place segment = 0; segment < segments; ++segment) role.pass(builder, partial, segment, segment);
  if (call.is_root()) partial.settle(run_of_places(0, segments));
}

constexpr Parameter reduce_in_order_binary_parameters[] = {segments_parameter(16)};

}  // namespace

extern constinit const Algorithm reduce_in_order_binary = {
    .name = "in_order_binary",
    .summary =
        "Reduction in rank order along a binary tree: the left subtree has the ranks below, the right one "
        "those above.",
    .source = "Sanders, Speck, Träff 2009, section 4 (in-order trees)",
    .collectives = {Collective::reduce},
    .rounds = "about 2(N + ⌊log₂P⌋) of 1/N vector each",
    .parameters = reduce_in_order_binary_parameters,
    .generate = generate_reduce_in_order_binary,
};

}  // namespace convene::collective
