// SPDX-License-Identifier: BSD-3-Clause
// The level at which a hierarchical algorithm divides the ranks: nodes, or domains within nodes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

enum class NodeLevel : std::int64_t { node, automatic, socket, numa, l3 };

/// The level of a call, its second parameter; NodeLevel::node without such a parameter.
NodeLevel level_of(std::span<const Value> parameters);

/// True if ranks are divided into domains.
bool divides_nodes(std::span<const Value> parameters);

/// The unit of each rank at the call's level: its node, or its domain. Units are numbered in the order of
/// their first ranks. An automatic level is the one with the largest domains that divides the ranks of a node
/// into several domains with several ranks each. Where a level does not divide a node, that is one unit.
std::vector<Rank> units_of(const Call& call);

/// True if an automatic level divides a node. By rank.
bool has_several_domains(const std::vector<Rank>& nodes, const std::vector<Domains>& domains);

/// Parameters of hierarchical algorithms.
inline constexpr Parameter hierarchy_parameters[] = {
    {.name = "leaders",
     .summary =
         "leaders of each node: ranks that communicate with other nodes, each with a share of the data",
     .fallback = 1,
     .least = 1,
     .most = 1024,
     .samples = {1, 2, 3}},
    {.name = "level",
     .summary =
         "what counts as a node: a node, or a domain within one (auto: the largest with several ranks)",
     .fallback = 0,
     .words = {"node", "auto", "socket", "numa", "l3"}}};

}  // namespace convene::collective
