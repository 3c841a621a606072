// SPDX-License-Identifier: BSD-3-Clause
// Remapping: any algorithm on reordered ranks. Some algorithms are best if neighbouring numbers share a node,
// others if they do not; so ranks get new numbers according to their nodes. Blocks stay in their places:
// messages pick them up and put them down there one by one (blocks=placed), or they are sent in the new
// order, between buffers of that order, and copied once (blocks=copied).
//
// Source:   Rico-Gallego 2015, chapter 6 (ring, remapped); Mirsadeghi and Afsahi 2016 (greedy orders for
//           patterns).
// Requires: the requirements of its part; known nodes; for reductions, an operator that commutes.
// Cost:     that of the part on the new ranks. blocks=copied: another buffer as large as the reordered one,
//           and a copy of it. order=fitted: all ranks' schedules are built once on each rank, to count the
//           data between each pair.
#include "collective/hierarchy/rank_order.hpp"
#include "collective/hierarchy/reordered.hpp"

namespace convene::collective {
namespace {

enum Own : std::size_t { order, blocks };

enum class Blocks : std::int64_t { placed, copied };

constexpr Parameter remap_parameters[] = {
    {.name = "order",
     .summary =
         "order of numbers: node after node, to the nodes in turn, or fitted to the algorithm's messages",
     .fallback = 0,
     .words = {"sequential", "cyclic", "fitted"},
     .samples = {0, 1, 2, 0, 1, 2}},
    {.name = "blocks",
     .summary = "blocks are sent from and to their places, or in the new order and copied afterwards",
     .fallback = 0,
     .words = {"placed", "copied"},
     .samples = {0, 1}}};

std::string unmet_of_remap(const Algorithm&, const Call& call) {
  if (call.nodes.empty()) return "needs the mapping of ranks to nodes";
  // A buffer in the new order has one size for each block; in alltoallv a rank's sent and received blocks
  // differ.
  if (has_unequal_pairs(call.collective) && static_cast<Blocks>(call.parameters[blocks]) == Blocks::copied)
    return "needs blocks=placed for " + std::string(name(call.collective));
  return unmet_by_reordered(call);
}

void generate_remap(const Call& call, SharedWork& work, Builder& builder) {
  const auto ranks = work.get([&] {
    return ordered_ranks(static_cast<RankOrder>(call.parameters[order]), call, call.parts.front());
  });
  run_reordered(call, *ranks, static_cast<Blocks>(call.parameters[blocks]) == Blocks::copied, builder);
}

/// The default part.
constexpr std::string_view fallback(Collective collective) {
  switch (traits(collective).postcondition) {
    case Postcondition::alltoall:
      return "pairwise";
    case Postcondition::allreduce:
    case Postcondition::reduce_scatter:
      return "ring";
    case Postcondition::allgather:
      return collective == Collective::barrier ? "dissemination" : "ring";
    default:
      return "binomial";
  }
}

/// The composition of one collective with its default part.
template <Collective collective>
constexpr PartSlot slots[] = {
    {"algorithm", "algorithm on the renumbered ranks", collective, fallback(collective)}};
template <Collective collective>
constexpr Composition composition = {
    .parts = slots<collective>, .unmet = unmet_of_remap, .pieces = pieces_of_reordered};

template <Collective collective>
constexpr Algorithm remap(CollectiveSet collectives) {
  return {.name = "remap",
          .summary =
              "Any algorithm on renumbered ranks: node after node, to the nodes in turn, or fitted to the "
              "algorithm.",
          .source = "Rico-Gallego 2015 (τ-Lop), chapter 6; Mirsadeghi and Afsahi 2016",
          .collectives = collectives,
          .rounds = "those of its part",
          .parameters = remap_parameters,
          .composition = &composition<collective>,
          .generate = generate_remap};
}

}  // namespace

extern constinit const Algorithm allgather_remap =
    remap<Collective::allgather>({Collective::allgather, Collective::allgatherv});
extern constinit const Algorithm gather_remap =
    remap<Collective::gather>({Collective::gather, Collective::gatherv});
extern constinit const Algorithm scatter_remap =
    remap<Collective::scatter>({Collective::scatter, Collective::scatterv});
extern constinit const Algorithm bcast_remap = remap<Collective::bcast>({Collective::bcast});
extern constinit const Algorithm alltoall_remap =
    remap<Collective::alltoall>({Collective::alltoall, Collective::alltoallv, Collective::alltoallw});
extern constinit const Algorithm barrier_remap = remap<Collective::barrier>({Collective::barrier});
extern constinit const Algorithm reduce_remap = remap<Collective::reduce>({Collective::reduce});
extern constinit const Algorithm allreduce_remap = remap<Collective::allreduce>({Collective::allreduce});
extern constinit const Algorithm reduce_scatter_remap =
    remap<Collective::reduce_scatter_block>({Collective::reduce_scatter_block, Collective::reduce_scatter});

}  // namespace convene::collective
