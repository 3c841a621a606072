// SPDX-License-Identifier: BSD-3-Clause
#include "topology/domains.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace convene::topology {

std::optional<DomainLevel> find_domain_level(std::string_view name) {
  if (name == "package") return DomainLevel::socket;
  for (const DomainLevel level : domain_levels)
    if (name == domain_level_names[static_cast<std::size_t>(level)]) return level;
  return std::nullopt;
}

Domains domains_per_node(std::span<const std::uint32_t> nodes, std::span<const Domains> domains) {
  Domains most{};
  for (std::size_t level = 0; level < most.size(); ++level) {
    std::map<std::uint32_t, std::set<std::uint32_t>> of_node;
    for (std::size_t rank = 0; rank < domains.size(); ++rank)
      of_node[nodes[rank]].insert(domains[rank][level]);
    for (const auto& [node, found] : of_node)
      most[level] = std::max(most[level], static_cast<std::uint32_t>(found.size()));
  }
  return most;
}

namespace {

/// "socket:2 l3:4": the levels that divide a node.
std::string levels_text(const Domains& per_node) {
  std::string text;
  for (std::size_t level = 0; level < per_node.size(); ++level) {
    if (per_node[level] < 2) continue;
    if (!text.empty()) text += ' ';
    text += std::string(domain_level_names[level]) + ':' + std::to_string(per_node[level]);
  }
  return text;
}

/// Why a rank without a domain has none; empty if the machine has no such level.
std::string reason(std::size_t level, std::size_t rank, std::uint32_t code) {
  if (code == no_domain(NoDomain::absent)) return "";
  const std::string who = "; " + std::string(domain_level_names[level]) + " is unknown: ";
  if (code == no_domain(NoDomain::several))
    return who + "the affinity of rank " + std::to_string(rank) +
           " covers several of its domains; bind ranks to cores";
  return who + "rank " + std::to_string(rank) + " found malformed files";
}

}  // namespace

AgreedDomains agree_on_domains(std::span<const std::uint32_t> nodes, std::span<const Domains> domains) {
  AgreedDomains agreed{{domains.begin(), domains.end()}, ""};
  std::string reasons;
  for (std::size_t level = 0; level < domain_levels.size(); ++level) {
    std::set<std::uint32_t> undivided;
    std::string first;
    for (std::size_t rank = 0; rank < domains.size(); ++rank) {
      if (is_domain(domains[rank][level])) continue;
      undivided.insert(nodes[rank]);
      if (first.empty()) first = reason(level, rank, domains[rank][level]);
    }
    reasons += first;
    for (std::size_t rank = 0; rank < domains.size(); ++rank)
      if (undivided.contains(nodes[rank])) agreed.of_rank[rank][level] = 0;
  }
  const std::string levels = levels_text(domains_per_node(nodes, agreed.of_rank));
  agreed.remark = (levels.empty() ? "no level divides a node" : "levels within nodes: " + levels) + reasons;
  if (levels.empty()) agreed.of_rank.clear();
  return agreed;
}

}  // namespace convene::topology
