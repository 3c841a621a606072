// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood allgather with message combining: if A sends to B and to C, and B sends to C anyway, A sends
// its block to B only, and B forwards it to C together with its own. One message less; C gets the same blocks
// in fewer messages. A message is early (round 0: the sender's own block only) or late (round 1: the own
// block and all forwarded ones), so no block is forwarded more than once. Every rank knows the sizes of the
// blocks that it forwards, since they are its neighbours' blocks: they are forwarded from their places in the
// output.
//
// Messages are replaced one by one, greedily. First those between nodes (if nodes are known), by a B on C's
// node if possible; then those whose ends have few common neighbours, since these are far apart (diagonals of
// a stencil). Among the possible detours it takes the one whose middle rank sends the fewest blocks, counting
// one more for each message that could still be either early or late. No rank sends more than 1.5 times as
// many blocks as the busiest rank of linear, and a message within a node never takes a detour through another
// node.
//
// Source:   Convene's own; message combining in neighborhoods: Träff, Carpen-Amarie, Hunold and Rougier 2014
//           (isomorphic ones, dimension by dimension), Mirsadeghi, Träff, Balaji and Afsahi 2017 (common
//           neighbours).
// Requires: that all ranks know the whole graph. (It is gathered once, in the first call on a communicator.)
// Cost:     2 rounds; as many blocks as linear. On a periodic plane with eight neighbours 4 messages a rank,
//           not 8; in a space of 4 × 4 × 4 about 13 of 26.
//
//   Rank 4 of a 3 × 3 torus with eight neighbours: it sends its own block to its row in round 0, and in
//   round 1 to its column, with the blocks received from its row.
#include <algorithm>

#include "collective/core/algorithm.hpp"
#include "collective/neighbor/neighbor_routes.hpp"

namespace convene::collective {
namespace {

class Combining {
 public:
  Combining(const Call& call, SharedWork& work, Builder& builder)
      : call_(call),
        builder_(builder),
        graph_(*call.graph),
        routes_(work.get([&] { return Routes(graph_, call.nodes, Block::same_for_all); })) {}

  void run() {
    for (const bool is_late : {false, true}) {
      builder_.round(is_late);
      for (const Rank source : Graph::distinct(graph_.sources[call_.rank])) receive(source, is_late);
      for (const Rank target : Graph::distinct(graph_.targets[call_.rank])) send(target, is_late);
    }
    copy_further();
  }

 private:
  void receive(Rank source, bool is_late) {
    if (source == call_.rank || !routes_->is_sent(source, call_.rank, is_late)) return;
    std::vector<Range> where{place_of(source)};
    for (const Rank origin : routes_->taken_along(graph_, source, call_.rank))
      where.push_back(place_of(origin));
    builder_.recv(source, where);
  }

  void send(Rank target, bool is_late) {
    if (target == call_.rank || !routes_->is_sent(call_.rank, target, is_late)) return;
    std::vector<Range> what{Range(Buffer::input, 0)};
    for (const Rank origin : routes_->taken_along(graph_, call_.rank, target))
      what.push_back(place_of(origin));
    builder_.send(target, what);
  }

  /// The place of a source's block: the first one, if the source occurs several times.
  Range place_of(Rank source) const {
    const auto& sources = graph_.sources[call_.rank];
    const auto at = std::find(sources.begin(), sources.end(), source);
    return Range(Buffer::output, static_cast<Place>(at - sources.begin()));
  }

  void copy_further() {
    const auto& sources = graph_.sources[call_.rank];
    for (Place place = 0; place < sources.size(); ++place) {
      if (sources[place] == Graph::no_rank) continue;
      const Range first = place_of(sources[place]), here(Buffer::output, place);
      if (sources[place] == call_.rank)
        builder_.copy(Range(Buffer::input, 0), here);
      else if (first != here)
        builder_.copy(first, here);
    }
  }

  const Call& call_;
  Builder& builder_;
  const Graph& graph_;
  std::shared_ptr<const Routes> routes_;
};

void generate_neighbor_combining(const Call& call, SharedWork& work, Builder& builder) {
  Combining(call, work, builder).run();
}

}  // namespace

extern constinit const Algorithm neighbor_combining = {
    .name = "combining",
    .summary = "A block reaches some targets through other targets, combined with blocks of these.",
    .source = "Convene; Träff et al. 2014, Mirsadeghi et al. 2017 on message combining",
    .collectives = {Collective::neighbor_allgather, Collective::neighbor_allgatherv},
    .rounds = "2",
    .needs_whole_graph = true,
    .generate = generate_neighbor_combining,
};

}  // namespace convene::collective
