// SPDX-License-Identifier: BSD-3-Clause
#include "collective/hierarchy/reordered.hpp"

namespace convene::collective {
namespace {

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

/// One rank's part of a reordered call.
class Reordered {
 public:
  Reordered(const Call& call, const Ranks& ranks, Builder& builder)
      : call_(call),
        builder_(builder),
        part_(call.parts.front()),
        ranks_(ranks),
        segments_(pieces_of_reordered(*part_.algorithm, call)) {}

  void run(bool copies) {
    const Places size = places(call_, segments_);
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
  const Ranks& ranks_;
  const std::uint32_t segments_;
};

}  // namespace

Call reordered_call(const Call& call) {
  const Spec& part = call.parts.front();
  return {.collective = call.collective,
          .procs = call.procs,
          .parameters = part.parameters,
          .parts = part.parts,
          .nodes = call.nodes,
          .commutative = call.commutative};
}

std::string unmet_by_reordered(const Call& call) {
  if (!call.commutative && is_reduction(call.collective))
    return "needs a commutative operator, because it changes the order of ranks";
  const Spec& part = call.parts.front();
  if (!part.algorithm->serves(call.collective))
    return "cannot be: " + std::string(part.algorithm->name) + " is no algorithm of " +
           std::string(name(call.collective));
  if (depends_on_domains(part)) return "cannot have a part with a level within nodes";
  const std::string of_part = unmet_requirement(*part.algorithm, reordered_call(call));
  if (of_part.empty()) return "";
  return "cannot be: " + std::string(part.algorithm->name) + " " + of_part + ", and has " +
         std::to_string(call.procs);
}

std::uint32_t pieces_of_reordered(const Algorithm&, const Call& call) {
  return segments(*call.parts.front().algorithm, reordered_call(call));
}

void run_reordered(const Call& call, const Ranks& ranks, bool copied, Builder& builder) {
  Reordered(call, ranks, builder).run(copied);
}

}  // namespace convene::collective
