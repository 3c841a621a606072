// SPDX-License-Identifier: BSD-3-Clause
// Domains of a node: its sockets, its NUMA nodes, and the groups of cores with a common L3 cache.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/layers.hpp"

namespace convene::topology {

/// A level of domains within a node, the level with the largest domains first.
enum class DomainLevel : std::uint8_t { socket, numa, l3 };
inline constexpr std::array domain_levels = {DomainLevel::socket, DomainLevel::numa, DomainLevel::l3};
inline constexpr std::array<std::string_view, domain_levels.size()> domain_level_names = {"socket", "numa",
                                                                                          "l3"};

/// One rank's domain at each level: a number that the ranks of the domain share, and other ranks of the node
/// do not.
using Domains = std::array<std::uint32_t, domain_levels.size()>;

inline std::uint32_t domain(const Domains& domains, DomainLevel level) {
  return domains[static_cast<std::size_t>(level)];
}

/// Why a rank has no domain at a level: sysfs has none, its affinity covers several, or sysfs is malformed.
enum class NoDomain : std::uint8_t { absent, several, malformed };

/// A level by its name; "package" is a socket, too.
std::optional<DomainLevel> find_domain_level(std::string_view name);

/// The number of domains with ranks, by level, on the node with the most. `nodes`, `domains`: by rank.
Domains domains_per_node(std::span<const std::uint32_t> nodes, std::span<const Domains> domains);

/// The domains of a communicator's ranks, as all of them see them.
struct AgreedDomains {
  std::vector<Domains> of_rank;  ///< empty if no level divides a node
  std::string remark;            ///< one line: the levels that divide nodes, and why others do not
};

/// From each rank's domains. A level at which a rank of a node has none does not divide that node.
AgreedDomains agree_on_domains(std::span<const std::uint32_t> nodes, std::span<const Domains> domains);

/// In place of a domain's number.
constexpr std::uint32_t no_domain(NoDomain why) { return 0xffffffffu - static_cast<std::uint32_t>(why); }
constexpr bool is_domain(std::uint32_t number) { return number < no_domain(NoDomain::malformed); }

}  // namespace convene::topology
