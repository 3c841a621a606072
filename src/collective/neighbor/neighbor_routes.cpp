// SPDX-License-Identifier: BSD-3-Clause
#include "collective/neighbor/neighbor_routes.hpp"

#include <algorithm>
#include <tuple>

namespace convene::collective {
namespace {

constexpr std::uint32_t no_edge = UINT32_MAX;
constexpr std::size_t most_ways = 64;  // limit on the detours examined per message, for dense graphs

}  // namespace

Routes::Routes(const Graph& graph, const std::vector<Rank>& nodes, Block block)
    : nodes_(nodes), block_(block), first_(graph.procs() + 1), blocks_(graph.procs()) {
  for (Rank rank = 0; rank < graph.procs(); ++rank) {
    first_[rank] = static_cast<std::uint32_t>(edges_.size());
    for (const Rank target : Graph::distinct(graph.targets[rank]))
      if (target != rank) edges_.push_back({rank, target});
  }
  first_.back() = static_cast<std::uint32_t>(edges_.size());
  for (Rank rank = 0; rank < graph.procs(); ++rank) blocks_[rank] = first_[rank + 1] - first_[rank];
  most_blocks_ = edges_.empty() ? 0 : *std::max_element(blocks_.begin(), blocks_.end()) * 3 / 2;
  for (const std::uint32_t edge : replacement_order()) combine(edge);
}

bool Routes::is_sent(Rank from, Rank to, bool in_second_round) const {
  const When when = edges_[find(from, to)].when;
  return when != When::gone && (when == When::late) == in_second_round;
}

bool Routes::is_relayed(Rank from, Rank to) const {
  const std::uint32_t edge = find(from, to);
  return edge != no_edge && edges_[edge].when == When::gone;
}

std::vector<Rank> Routes::taken_along(const Graph& graph, Rank from, Rank to) const {
  std::vector<Rank> origins;
  for (const Rank origin : Graph::distinct(graph.sources[from]))
    if (origin != from && origin != to && is_relayed(origin, to) && via(origin, to) == from)
      origins.push_back(origin);
  return origins;
}

std::uint32_t Routes::find(Rank from, Rank to) const {
  const auto begin = edges_.begin() + first_[from], end = edges_.begin() + first_[from + 1];
  const auto at =
      std::lower_bound(begin, end, to, [](const Edge& edge, Rank rank) { return edge.to < rank; });
  return at != end && at->to == to ? static_cast<std::uint32_t>(at - edges_.begin()) : no_edge;
}

template <class Visit>
void Routes::for_each_way(const Edge& edge, Visit&& visit) const {
  std::size_t seen = 0;
  for (std::uint32_t first = first_[edge.from]; first < first_[edge.from + 1] && seen < most_ways; ++first) {
    const Rank between = edges_[first].to;
    const std::uint32_t second = between == edge.to ? no_edge : find(between, edge.to);
    if (second == no_edge) continue;
    ++seen;
    visit(Way{first, second});
  }
}

/// The messages, in the order in which combine() tries to replace them: those between nodes first, then those
/// with the fewest detours.
std::vector<std::uint32_t> Routes::replacement_order() const {
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

void Routes::combine(std::uint32_t index) {
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
  if (block_ == Block::same_for_all) --blocks_[edge.from];
  ++blocks_[edge.via];
}

}  // namespace convene::collective
