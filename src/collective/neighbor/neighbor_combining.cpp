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
#include <tuple>

#include "collective/core/algorithm.hpp"
#include "collective/core/forecast.hpp"

namespace convene::collective {
namespace {

constexpr std::uint32_t no_edge = UINT32_MAX;
constexpr std::size_t most_ways = 64;  // limit on the detours examined per message, for dense graphs

enum class When : std::uint8_t { open, early, late, gone };

/// The messages of a graph, each pair of ranks once, and the replacements.
class Routes {
 public:
  Routes(const Graph& graph, const std::vector<Rank>& nodes)
      : nodes_(nodes), first_(graph.procs() + 1), blocks_(graph.procs()) {
    for (Rank rank = 0; rank < graph.procs(); ++rank) {
      first_[rank] = static_cast<std::uint32_t>(edges_.size());
      for (const Rank target : Graph::distinct(graph.targets[rank]))
        if (target != rank) edges_.push_back({rank, target});
    }
    first_.back() = static_cast<std::uint32_t>(edges_.size());
    for (Rank rank = 0; rank < graph.procs(); ++rank) blocks_[rank] = first_[rank + 1] - first_[rank];
    most_blocks_ = edges_.empty() ? 0 : *std::max_element(blocks_.begin(), blocks_.end()) * 3 / 2;
    for (const std::uint32_t edge : by_distance()) combine(edge);
  }

  When when(Rank from, Rank to) const { return edges_[find(from, to)].when; }
  /// The rank that forwards the block of a replaced message.
  Rank via(Rank from, Rank to) const { return edges_[find(from, to)].via; }

 private:
  struct Edge {
    Rank from, to;
    When when = When::open;
    Rank via = 0;
  };
  /// A detour by a third rank: over these two messages.
  struct Way {
    std::uint32_t first, second;
  };

  std::uint32_t find(Rank from, Rank to) const {
    const auto begin = edges_.begin() + first_[from], end = edges_.begin() + first_[from + 1];
    const auto at =
        std::lower_bound(begin, end, to, [](const Edge& edge, Rank rank) { return edge.to < rank; });
    return at != end && at->to == to ? static_cast<std::uint32_t>(at - edges_.begin()) : no_edge;
  }

  bool share_node(Rank a, Rank b) const { return nodes_.empty() || nodes_[a] == nodes_[b]; }

  template <class Visit>
  void for_each_way(const Edge& edge, Visit&& visit) const {
    std::size_t seen = 0;
    for (std::uint32_t first = first_[edge.from]; first < first_[edge.from + 1] && seen < most_ways;
         ++first) {
      const Rank between = edges_[first].to;
      const std::uint32_t second = between == edge.to ? no_edge : find(between, edge.to);
      if (second == no_edge) continue;
      ++seen;
      visit(Way{first, second});
    }
  }

  /// The messages, in the order in which they are replaced.
  std::vector<std::uint32_t> by_distance() const {
    std::vector<std::tuple<bool, std::uint32_t, std::uint32_t>> keys;
    for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
      std::uint32_t ways = 0;
      for_each_way(edges_[edge], [&](Way) { ++ways; });
      keys.emplace_back(share_node(edges_[edge].from, edges_[edge].to), ways, edge);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> order;
    for (const auto& key : keys) order.push_back(std::get<2>(key));
    return order;
  }

  void combine(std::uint32_t index) {
    Edge& edge = edges_[index];
    if (edge.when != When::open) return;  // other messages are replaced by it
    const auto can_be = [](const Edge& other, When when) {
      return other.when == When::open || other.when == when;
    };
    std::tuple<bool, std::uint32_t, Rank> least{};
    const Way* best = nullptr;
    Way kept{};
    for_each_way(edge, [&](Way way) {
      const Edge &first = edges_[way.first], &second = edges_[way.second];
      if (!can_be(first, When::early) || !can_be(second, When::late)) return;
      const bool is_in_node = share_node(first.from, first.to) && share_node(second.from, second.to);
      if ((share_node(edge.from, edge.to) && !is_in_node) || blocks_[first.to] >= most_blocks_) return;
      const std::uint32_t settles = (first.when == When::open) + (second.when == When::open);
      const Rank procs = static_cast<Rank>(first_.size() - 1);
      const std::tuple key{!share_node(second.from, second.to), blocks_[first.to] + settles,
                           (first.to + procs - first.from) % procs};
      if (best && key >= least) return;
      least = key;
      kept = way;
      best = &kept;
    });
    if (!best) return;
    edges_[best->first].when = When::early;
    edges_[best->second].when = When::late;
    edge.when = When::gone;
    edge.via = edges_[best->first].to;
    --blocks_[edge.from];
    ++blocks_[edge.via];
  }

  std::vector<Rank> nodes_;
  std::vector<std::uint32_t> first_;   // by rank: its first message
  std::vector<Edge> edges_;            // by sender and target
  std::vector<std::uint32_t> blocks_;  // by rank: the number of blocks that it sends
  std::uint32_t most_blocks_ = 0;
};

class Combining {
 public:
  Combining(const Call& call, SharedWork& work, Builder& builder)
      : call_(call),
        builder_(builder),
        graph_(*call.graph),
        routes_(work.get([&] { return Routes(graph_, call.nodes); })) {}

  void run() {
    for (const bool is_late : {false, true}) {
      builder_.round(is_late);
      for (const Rank source : Graph::distinct(graph_.sources[call_.rank])) receive(source, is_late);
      for (const Rank target : Graph::distinct(graph_.targets[call_.rank])) send(target, is_late);
    }
    copy_further();
  }

 private:
  /// True if a message is sent in this round.
  bool goes(Rank from, Rank to, bool is_late) const {
    const When when = routes_->when(from, to);
    return when != When::gone && (when == When::late) == is_late;
  }

  /// The sources whose blocks `from` forwards to `to`, in order.
  template <class Visit>
  void for_each_along(Rank from, Rank to, Visit&& visit) const {
    for (const Rank origin : Graph::distinct(graph_.sources[from]))
      if (origin != from && origin != to && is_target(origin, to) &&
          routes_->when(origin, to) == When::gone && routes_->via(origin, to) == from)
        visit(origin);
  }

  bool is_target(Rank from, Rank to) const {
    const auto& targets = graph_.targets[from];
    return std::find(targets.begin(), targets.end(), to) != targets.end();
  }

  void receive(Rank source, bool is_late) {
    if (source == call_.rank || !goes(source, call_.rank, is_late)) return;
    std::vector<Range> where{place_of(source)};
    for_each_along(source, call_.rank, [&](Rank origin) { where.push_back(place_of(origin)); });
    builder_.recv(source, where);
  }

  void send(Rank target, bool is_late) {
    if (target == call_.rank || !goes(call_.rank, target, is_late)) return;
    std::vector<Range> what{Range(Buffer::input, 0)};
    for_each_along(call_.rank, target, [&](Rank origin) { what.push_back(place_of(origin)); });
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
      if (sources[place] == Graph::nobody) continue;
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

void generate(const Call& call, SharedWork& work, Builder& builder) { Combining(call, work, builder).run(); }

}  // namespace

extern constinit const Algorithm neighbor_combining = {
    .name = "combining",
    .summary = "A block goes to some targets by way of others that are between, together with theirs.",
    .source = "Convene; Träff et al. 2014, Mirsadeghi et al. 2017 on message combining",
    .collectives = {Collective::neighbor_allgather, Collective::neighbor_allgatherv},
    .rounds = "2",
    .needs_whole_graph = true,
    .generate = generate,
};

}  // namespace convene::collective
