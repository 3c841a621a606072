// SPDX-License-Identifier: BSD-3-Clause
// Scatter + allgather: the vector is cut into P parts, which are scattered down a binomial tree, one to each
// rank, and then gathered by all ranks. A rank inside the tree keeps the parts that it forwards and does not
// receive them again.
//
// Source:   van de Geijn (Barnett et al. 1994; Thakur and Gropp 2003); the allgather with Sparbit: Loch,
//           chapter 4.
// Requires: nothing. allgather=recursive_doubling uses its two-phase form if P is no power of two.
// Cost:     ⌈log₂P⌉ rounds and those of the allgather; about 2m bytes sent by the root, where the binomial
//           tree sends m·⌈log₂P⌉; no extra memory.
//
//            before      round 0     round 1     round 2     round 3     (root 0, recursive doubling)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   part 0   0 . . .     0 . . .     0 . . .     0 * . .     0 0 * *
//   part 1   1 . . .     1 . . .     1 * . .     1 1 . .     1 1 * *
//   part 2   2 . . .     2 . * .     2 . 2 .     2 . 2 *     2 * 2 2
//   part 3   3 . . .     3 . * .     3 . 3 *     3 . 3 3     3 * 3 3     (* arrives in this round)
//
//   Relative rank v has part v first. P = 5: the root sends part 4 to rank 4, parts 2 and 3 to rank 2, and
//   part 1 to rank 1; rank 2 sends part 3 to rank 3.
#include <algorithm>
#include <bit>

#include "collective/core/algorithm.hpp"
#include "patterns/tree.hpp"

namespace convene::collective {

extern const Algorithm allgather_recursive_doubling, allgather_recursive_doubling_two_phase, allgather_ring,
    allgather_sparbit;

namespace {

enum class Allgather : std::int64_t { recursive_doubling, ring, sparbit };

const Algorithm& algorithm(Allgather which, Rank procs) {
  switch (which) {
    case Allgather::recursive_doubling:
      return std::has_single_bit(procs) ? allgather_recursive_doubling
                                        : allgather_recursive_doubling_two_phase;
    case Allgather::ring:
      return allgather_ring;
    case Allgather::sparbit:
      break;
  }
  return allgather_sparbit;
}

Range parts(Rank first, Rank count = 1) { return Range(Buffer::output, first, count); }

void scatter_parts(const TreeNode& node, const Call& call, Builder& builder) {
  if (!call.is_root()) {
    builder.round(node.round);
    builder.recv(call.absolute(node.parent), parts(call.relative(), node.subtree));
  }
  for (const TreeNode::Child& child : node.children) {
    builder.round(child.round);
    builder.send(call.absolute(child.rank), parts(child.rank, child.subtree));
  }
}

/// The allgather's ranks are relative to the root; its block b is part b.
Embedding view_of(const Call& call, Rank first_round) {
  const Rank procs = call.procs;
  Embedding view;
  view.rank = call.relative();
  view.input = {{parts(view.rank)}};
  for (Rank rank = 0; rank < procs; ++rank) {
    view.ranks.push_back(call.absolute(rank));
    view.output.push_back({parts(rank)});
  }
  view.blocks = view.output;
  view.first_round = first_round;
  view.has = [procs](Rank rank, const Range& part) {
    const Rank subtree = rank == 0 ? procs : std::min(rank & -rank, procs - rank);  // of the binomial tree
    return rank <= part.first && part.first - rank < subtree;
  };
  return view;
}

void generate_bcast_scatter_allgather(const Call& call, Builder& builder) {
  const Algorithm& allgather = algorithm(static_cast<Allgather>(call.parameters[0]), call.procs);
  const Split tree = knomial_split(1);
  scatter_parts(tree_node(tree, call.relative(), call.procs), call, builder);
  builder.enter(view_of(call, tree_rounds(tree, call.procs)));
  allgather.generate(
      {.procs = call.procs, .rank = call.relative(), .parameters = allgather.default_parameters()}, builder);
  builder.leave();
}

constexpr Parameter bcast_scatter_allgather_parameters[] = {
    {.name = "allgather",
     .summary = "allgather of the parts",
     .fallback = 0,
     .words = {"recursive_doubling", "ring", "sparbit"},
     .samples = {0, 1, 2}}};

}  // namespace

extern constinit const Algorithm bcast_scatter_allgather = {
    .name = "scatter_allgather",
    .summary = "Scatter of P parts of the vector along a binomial tree, followed by an allgather.",
    .source = "Barnett et al. 1994; Thakur and Gropp 2003; Loch 2021, chapter 4",
    .collectives = {Collective::bcast},
    .rounds = "⌈log₂P⌉ and those of the allgather",
    .parameters = bcast_scatter_allgather_parameters,
    .cuts_by_procs = true,
    .generate = generate_bcast_scatter_allgather,
};

}  // namespace convene::collective
