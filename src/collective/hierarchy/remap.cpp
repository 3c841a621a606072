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

const Spec& part_of(const Call& call) { return call.parts.front(); }

Call inner_call(const Call& call, const Spec& part) {
  return {.collective = call.collective,
          .procs = call.procs,
          .parameters = part.parameters,
          .parts = part.parts,
          .nodes = call.nodes,
          .commutative = call.commutative};
}

std::string unmet_of_remap(const Algorithm&, const Call& call) {
  if (call.nodes.empty()) return "needs the mapping of ranks to nodes";
  if (!call.commutative && is_reduction(call.collective))
    return "needs a commutative operator, because it changes the order of ranks";
  // A buffer in the new order has one size for each block; in alltoallv a rank's sent and received blocks
  // differ.
  if (has_unequal_pairs(call.collective) && static_cast<Blocks>(call.parameters[blocks]) == Blocks::copied)
    return "needs blocks=placed for " + std::string(name(call.collective));
  const Spec& part = part_of(call);
  if (!part.algorithm->serves(call.collective))
    return "cannot be: " + std::string(part.algorithm->name) + " is no algorithm of " +
           std::string(name(call.collective));
  const std::string of_part = unmet_requirement(*part.algorithm, inner_call(call, part));
  if (of_part.empty()) return "";
  return "cannot be: " + std::string(part.algorithm->name) + " " + of_part + ", and has " +
         std::to_string(call.procs);
}

/// The order does not change it.
std::uint32_t pieces(const Algorithm&, const Call& call) {
  const Spec& part = part_of(call);
  return segments(*part.algorithm, inner_call(call, part));
}

bool has_blocks_in_input(Collective collective) {
  switch (traits(collective).postcondition) {
    case Postcondition::scatter:
    case Postcondition::alltoall:
    case Postcondition::reduce_scatter:
      return true;
    default:
      return false;
  }
}

bool has_blocks_in_output(Collective collective) {
  switch (traits(collective).postcondition) {
    case Postcondition::allgather:
    case Postcondition::gather:
    case Postcondition::alltoall:
      return true;
    default:
      return false;
  }
}

class Remapped {
 public:
  Remapped(const Call& call, SharedWork& work, Builder& builder)
      : call_(call),
        builder_(builder),
        part_(part_of(call)),
        ranks_(*work.get(
            [&] { return ordered_ranks(static_cast<RankOrder>(call.parameters[order]), call, part_); })),
        segments_(pieces(*part_.algorithm, call)) {}

  void run() {
    const Places size = places(call_, segments_);
    const bool copies = static_cast<Blocks>(call_.parameters[blocks]) == Blocks::copied;
    const bool many_in = has_blocks_in_input(call_.collective) && size.input > 0;
    const bool many_out = has_blocks_in_output(call_.collective) && size.output > 0;
    const bool has_blocks = has_blocks_in_input(call_.collective) || has_blocks_in_output(call_.collective);
    const Rank own = number_in(ranks_, call_.rank);
    Phase phase{.collective = call_.collective,
                .ranks = ranks_,
                .root = is_rooted(call_.collective) ? number_in(ranks_, call_.root) : 0,
                .in_place = call_.in_place};
    if (!call_.arrivals.empty())
      for (const Rank rank : ranks_) phase.arrivals.push_back(call_.arrivals[rank]);
    phase.blocks = has_blocks ? in_new_order(Buffer::output) : whole(Buffer::output, segments_);
    phase.input = many_in ? in_new_order(Buffer::input) : whole(Buffer::input, size.input);
    phase.output = many_out ? in_new_order(Buffer::output) : whole(Buffer::output, size.output);
    // In place; or it is a part, and the whole is in place.
    const bool own_is_there = size.input > 0 && size.output > 0 &&
                              builder_.are_same(many_in ? phase.input[own] : phase.input.front(),
                                                many_out ? phase.output[own] : phase.output.front());
    if (copies && many_in) {
      const std::vector<Embedding::Places> moved = in_scratch();
      builder_.copy(joined(phase.input), joined(moved));
      phase.input = moved;
      if (own_is_there) phase.output = {moved[own]};
    }
    std::vector<Embedding::Places> arrival = phase.output, arrived = arrival;
    if (copies && many_out) arrived = phase.output = in_scratch();
    run_phase(part_, std::move(phase), call_, 0, builder_);
    if (!copies || !many_out) return;
    if (own_is_there) arrived[own].clear(), arrival[own].clear();
    builder_.copy(joined(arrived), joined(arrival));
  }

 private:
  /// By number: the places of its rank's block in a buffer with all blocks. A block has `pieces` places.
  std::vector<Embedding::Places> in_new_order(Buffer buffer) const {
    std::vector<Embedding::Places> result;
    for (const Rank rank : ranks_) result.push_back({Range(buffer, rank * segments_, segments_)});
    return result;
  }
  static std::vector<Embedding::Places> whole(Buffer buffer, std::uint32_t places) {
    if (places == 0) return {};
    return {{Range(buffer, 0, places)}};
  }

  /// All blocks in scratch, in the new order.
  std::vector<Embedding::Places> in_scratch() const {
    std::vector<Place> sized_like;
    for (const Rank rank : ranks_)
      for (std::uint32_t segment = 0; segment < segments_; ++segment)
        sized_like.push_back(rank * segments_ + segment);
    const Buffer made = builder_.scratch(sized_like);
    std::vector<Embedding::Places> result;
    for (Rank number = 0; number < call_.procs; ++number)
      result.push_back({Range(made, number * segments_, segments_)});
    return result;
  }

  static Embedding::Places joined(const std::vector<Embedding::Places>& blocks) {
    Embedding::Places places;
    for (const Embedding::Places& block : blocks) places.insert(places.end(), block.begin(), block.end());
    return places;
  }

  const Call& call_;
  Builder& builder_;
  const Spec& part_;
  const Ranks ranks_;
  const std::uint32_t segments_;
};

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
constexpr Composition composition = {.parts = slots<collective>, .unmet = unmet_of_remap, .pieces = pieces};

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
          .generate = [](const Call& call, SharedWork& work, Builder& builder) {
            Remapped(call, work, builder).run();
          }};
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
