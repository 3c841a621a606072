// SPDX-License-Identifier: BSD-3-Clause
#include "collective/hierarchy/rank_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace convene::collective {
namespace {

/// The ranks of each node; the root's node is first, and in it the root.
std::vector<Ranks> ranks_by_node(const Call& call) {
  Ranks all(call.procs);
  std::iota(all.begin(), all.end(), 0);
  if (is_rooted(call.collective)) {
    const Rank root_node = call.nodes[call.root];
    std::stable_partition(all.begin(), all.end(), [&](Rank rank) { return call.nodes[rank] == root_node; });
    std::stable_partition(all.begin(), all.end(), [&](Rank rank) { return rank == call.root; });
  }
  std::vector<Ranks> nodes;
  std::unordered_map<Rank, std::size_t> numbers;
  for (const Rank rank : all) {
    const auto node = numbers.emplace(call.nodes[rank], nodes.size()).first->second;
    if (node == nodes.size()) nodes.emplace_back();
    nodes[node].push_back(rank);
  }
  return nodes;
}

Ranks node_after_node(const std::vector<Ranks>& nodes) {
  Ranks order;
  for (const Ranks& ranks : nodes) order.insert(order.end(), ranks.begin(), ranks.end());
  return order;
}

Ranks in_turn(const std::vector<Ranks>& nodes) {
  Ranks order;
  bool is_done = false;
  for (std::size_t i = 0; !is_done; ++i) {
    is_done = true;
    for (const Ranks& ranks : nodes)
      if (i < ranks.size()) {
        order.push_back(ranks[i]);
        is_done = false;
      }
  }
  return order;
}

/// The order of the call, rotated so that the root is first.
Ranks as_they_are(const Call& call) {
  Ranks order(call.procs);
  const Rank first = is_rooted(call.collective) ? call.root : 0;
  for (Rank number = 0; number < call.procs; ++number) order[number] = (first + number) % call.procs;
  return order;
}

struct Exchange {
  Rank peer;
  std::uint64_t places;
};

std::uint64_t places_of(const Schedule& schedule, StepId id) {
  std::uint64_t places = 0;
  for (const Range& range : schedule.ranges(id)) places += range.count();
  return places;
}

/// By number: its communication partners, with the amounts in both directions.
std::vector<std::vector<Exchange>> exchanges(const Plan& plan) {
  std::vector<std::vector<Exchange>> result(plan.size());
  for (const Schedule& schedule : plan)
    for (StepId id = 0; id < schedule.size(); ++id) {
      if (schedule[id].kind != StepKind::send) continue;
      const std::uint64_t places = places_of(schedule, id);
      result[schedule.rank()].push_back({schedule[id].peer, places});
      result[schedule[id].peer].push_back({schedule.rank(), places});
    }
  return result;
}

/// Fills node after node: with the lowest number left, and then always the number that exchanges most with
/// those already on the node.
Ranks fill_greedily(const Plan& plan, const std::vector<Ranks>& nodes) {
  const auto traffic = exchanges(plan);
  constexpr std::uint64_t taken = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> pull(plan.size(), 0);  // exchange with the node that is being filled; or taken
  Ranks rank_of(plan.size());
  for (const Ranks& ranks : nodes) {
    for (std::uint64_t& each : pull)
      if (each != taken) each = 0;
    for (const Rank rank : ranks) {
      std::size_t best = pull.size();
      for (std::size_t number = 0; number < pull.size(); ++number)
        if (pull[number] != taken && (best == pull.size() || pull[number] > pull[best])) best = number;
      rank_of[best] = rank;
      pull[best] = taken;
      for (const Exchange& exchange : traffic[best])
        if (pull[exchange.peer] != taken) pull[exchange.peer] += exchange.places;
    }
  }
  return rank_of;
}

Ranks fitted(const Call& call, const Spec& part) {
  Call inner{
      .collective = call.collective, .procs = call.procs, .parameters = part.parameters, .parts = part.parts};
  const auto nodes = ranks_by_node(call);
  if (part.algorithm->is_composed())  // a composed part inspects the nodes itself; any nodes show its pattern
    for (const Rank rank : node_after_node(nodes)) inner.nodes.push_back(call.nodes[rank]);
  const Plan plan = build_plan(*part.algorithm, inner);
  const std::array<Ranks, 4> candidates = {as_they_are(call), node_after_node(nodes), in_turn(nodes),
                                           fill_greedily(plan, nodes)};
  return *std::min_element(candidates.begin(), candidates.end(), [&](const Ranks& a, const Ranks& b) {
    return places_between_nodes(plan, a, call.nodes) < places_between_nodes(plan, b, call.nodes);
  });
}

}  // namespace

std::uint64_t places_between_nodes(const Plan& plan, const Ranks& rank_of_number,
                                   const std::vector<Rank>& nodes) {
  std::uint64_t between = 0;
  for (const Schedule& schedule : plan)
    for (StepId id = 0; id < schedule.size(); ++id)
      if (schedule[id].kind == StepKind::send &&
          nodes[rank_of_number[schedule.rank()]] != nodes[rank_of_number[schedule[id].peer]])
        between += places_of(schedule, id);
  return between;
}

Ranks ordered_ranks(RankOrder order, const Call& call, const Spec& part) {
  switch (order) {
    case RankOrder::sequential:
      return node_after_node(ranks_by_node(call));
    case RankOrder::cyclic:
      return in_turn(ranks_by_node(call));
    case RankOrder::fitted:
      break;
  }
  return fitted(call, part);
}

}  // namespace convene::collective
