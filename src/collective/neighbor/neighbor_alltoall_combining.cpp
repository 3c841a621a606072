// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood alltoall with message combining: where A sends to B and to C, and B sends to C, A's block for
// C is sent to B together with the one for B, and on to C together with B's own. One message less; the block
// is sent twice. Messages of round 0 carry own blocks, including those to be relayed; messages of round 1
// carry own and relayed blocks. No block is relayed twice. The messages are chosen as in the neighborhood
// allgather (neighbor_routes.cpp): no rank sends more than 1.5 times the blocks of the busiest rank of
// linear.
//
// Source:   Convene; message combining in neighborhoods: Träff, Carpen-Amarie, Hunold and Rougier 2014
//           (isomorphic ones, dimension by dimension), Mirsadeghi, Träff, Balaji and Afsahi 2017 (common
//           neighbours).
// Requires: that all ranks know the whole graph. (It is gathered once, in the first call on a communicator.)
// Cost:     2 rounds; up to 1.5 times the blocks of linear. On a periodic plane with eight neighbours each
//           rank sends 4 messages and 12 blocks, not 8 and 8; in a space of 4 × 4 × 4 about 14 of 26 messages.
//           Scratch for the blocks that a rank relays. In neighbor_alltoallv every block is padded to the
//           largest of all, since a rank does not know the sizes of blocks that it relays; the ranks first
//           agree on that size (an allreduce of 8 bytes).
//
//   Rank 4 of a 3 × 3 torus with eight neighbours sends 2 messages of 3 blocks along its row: for that rank,
//   and for the ranks above and below it; then 2 along its column, of its own block and 2 from the row.
#include <map>

#include "collective/core/algorithm.hpp"
#include "collective/neighbor/neighbor_routes.hpp"

namespace convene::collective {
namespace {

class AlltoallCombining {
 public:
  AlltoallCombining(const Call& call, SharedWork& work, Builder& builder)
      : call_(call),
        builder_(builder),
        graph_(*call.graph),
        routes_(work.get([&] { return Routes(graph_, call.nodes, Block::own); })) {
    make_scratch();
  }

  void run() {
    copy_own();
    for (const bool in_second : {false, true}) {
      builder_.round(in_second);
      for (const Rank source : Graph::distinct(graph_.sources[call_.rank])) receive(source, in_second);
      for (const Rank target : Graph::distinct(graph_.targets[call_.rank])) send(target, in_second);
    }
  }

 private:
  /// The places of a rank's blocks for a target, in order.
  std::vector<Place> blocks_for(Rank from, Rank target) const {
    std::vector<Place> places;
    for (Place place = 0; place < graph_.targets[from].size(); ++place)
      if (graph_.targets[from][place] == target) places.push_back(place);
    return places;
  }

  /// Where the blocks of a source arrive, in the order in which it sends them.
  std::vector<Range> places_from(Rank source) const {
    std::vector<Range> places;
    for (const Place place : graph_.receive_order(call_.rank))
      if (graph_.sources[call_.rank][place] == source) places.emplace_back(Buffer::output, place);
    return places;
  }

  /// The targets whose blocks `from` sends by way of `via`, in order.
  std::vector<Rank> relayed_by(Rank via, Rank from) const {
    std::vector<Rank> targets;
    for (const Rank target : Graph::distinct(graph_.targets[from]))
      if (routes_->is_relayed(from, target) && routes_->via(from, target) == via) targets.push_back(target);
    return targets;
  }

  /// A place for each block that this rank relays.
  void make_scratch() {
    Place next = 0;
    for (const Rank source : Graph::distinct(graph_.sources[call_.rank]))
      for (const Rank target : relayed_by(call_.rank, source)) {
        const auto count = static_cast<Place>(blocks_for(source, target).size());
        relayed_[{source, target}] = {next, count};
        next += count;
      }
    if (next > 0) scratch_ = builder_.scratch(std::vector<Place>(next, 0));
  }

  Range relayed(Rank source, Rank target) const {
    const auto [first, count] = relayed_.at({source, target});
    return Range(scratch_, first, count);
  }

  void receive(Rank source, bool in_second) {
    if (source == call_.rank || !routes_->is_sent(source, call_.rank, in_second)) return;
    std::vector<Range> where = places_from(source);
    for (const Rank target : relayed_by(call_.rank, source)) where.push_back(relayed(source, target));
    for (const Rank origin : routes_->taken_along(graph_, source, call_.rank))
      for (const Range& place : places_from(origin)) where.push_back(place);
    builder_.recv(source, where);
  }

  void send(Rank target, bool in_second) {
    if (target == call_.rank || !routes_->is_sent(call_.rank, target, in_second)) return;
    std::vector<Range> what = inputs(blocks_for(call_.rank, target));
    for (const Rank behind : relayed_by(target, call_.rank))
      for (const Range& block : inputs(blocks_for(call_.rank, behind))) what.push_back(block);
    for (const Rank origin : routes_->taken_along(graph_, call_.rank, target))
      what.push_back(relayed(origin, target));
    builder_.send(target, what);
  }

  static std::vector<Range> inputs(const std::vector<Place>& places) {
    std::vector<Range> ranges;
    for (const Place place : places) ranges.emplace_back(Buffer::input, place);
    return ranges;
  }

  void copy_own() {
    const std::vector<Place> from = blocks_for(call_.rank, call_.rank);
    const std::vector<Range> to = places_from(call_.rank);
    for (std::size_t i = 0; i < to.size(); ++i) builder_.copy(Range(Buffer::input, from[i]), to[i]);
  }

  const Call& call_;
  Builder& builder_;
  const Graph& graph_;
  std::shared_ptr<const Routes> routes_;
  Buffer scratch_ = Buffer::input;
  std::map<std::pair<Rank, Rank>, std::pair<Place, Place>> relayed_;  // first place and number, by both ends
};

void generate_neighbor_alltoall_combining(const Call& call, SharedWork& work, Builder& builder) {
  AlltoallCombining(call, work, builder).run();
}

}  // namespace

extern constinit const Algorithm neighbor_alltoall_combining = {
    .name = "combining",
    .summary = "Blocks for some targets are relayed by others that are between, together with theirs.",
    .source = "Convene; Träff et al. 2014, Mirsadeghi et al. 2017 on message combining",
    .collectives = {Collective::neighbor_alltoall, Collective::neighbor_alltoallv},
    .rounds = "2",
    .relays = true,
    .needs_whole_graph = true,
    .generate = generate_neighbor_alltoall_combining,
};

}  // namespace convene::collective
