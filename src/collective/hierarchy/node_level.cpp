// SPDX-License-Identifier: BSD-3-Clause
#include "collective/hierarchy/node_level.hpp"

#include <map>
#include <utility>

namespace convene::collective {
namespace {

/// True if a level divides the ranks of a node into several domains with several ranks each.
bool divides(const std::vector<Rank>& nodes, const std::vector<Domains>& domains, DomainLevel level) {
  std::map<std::pair<Rank, Rank>, Rank> ranks;
  std::map<Rank, Rank> found;  // domains with several ranks, by node
  for (Rank rank = 0; rank < domains.size(); ++rank)
    if (++ranks[{nodes[rank], domain(domains[rank], level)}] == 2 && ++found[nodes[rank]] == 2) return true;
  return false;
}

std::optional<DomainLevel> largest_level(const std::vector<Rank>& nodes,
                                         const std::vector<Domains>& domains) {
  for (const DomainLevel level : domain_levels)
    if (divides(nodes, domains, level)) return level;
  return std::nullopt;
}

std::optional<DomainLevel> domain_level(const Call& call) {
  if (call.domains.empty()) return std::nullopt;
  switch (level_of(call.parameters)) {
    case NodeLevel::node:
      return std::nullopt;
    case NodeLevel::automatic:
      return largest_level(call.nodes, call.domains);
    case NodeLevel::socket:
      return DomainLevel::socket;
    case NodeLevel::numa:
      return DomainLevel::numa;
    case NodeLevel::l3:
      return DomainLevel::l3;
  }
  return std::nullopt;
}

}  // namespace

NodeLevel level_of(std::span<const Value> parameters) {
  return parameters.size() < 2 ? NodeLevel::node : static_cast<NodeLevel>(parameters[1]);
}

bool divides_nodes(std::span<const Value> parameters) { return level_of(parameters) != NodeLevel::node; }

bool has_several_domains(const std::vector<Rank>& nodes, const std::vector<Domains>& domains) {
  return largest_level(nodes, domains).has_value();
}

std::vector<Rank> units_of(const Call& call) {
  const auto level = domain_level(call);
  std::map<std::pair<Rank, Rank>, Rank> numbers;
  std::vector<Rank> units;
  units.reserve(call.procs);
  for (Rank rank = 0; rank < call.procs; ++rank) {
    const Rank within = level ? domain(call.domains[rank], *level) : 0;
    units.push_back(numbers.emplace(std::pair(call.nodes[rank], within), static_cast<Rank>(numbers.size()))
                        .first->second);
  }
  return units;
}

}  // namespace convene::collective
