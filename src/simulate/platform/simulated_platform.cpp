// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/simulated_platform.hpp"

#include <fmt/format.h>

#include <numeric>

#include "base/error.hpp"
#include "simulate/platform/path.hpp"

namespace convene::simulate {
namespace {

void require_all_nodes(std::string_view what, std::uint64_t has, std::uint32_t nodes) {
  if (has == nodes) return;
  throw Error(fmt::format("{} make {} nodes, but the machine has {}; make them agree", what, has, nodes));
}

void validate_fat_tree(const NetworkSpec& network, std::uint32_t nodes) {
  std::uint64_t product = 1;
  for (std::uint32_t count : network.down) product *= count;
  require_all_nodes("the counts of \"network.down\"", product, nodes);
  if (network.up.size() + 1 != network.down.size())
    throw Error(
        fmt::format("\"network.up\" has {} counts; a fat tree with {} in \"network.down\" needs {}, one for "
                    "each level but the last",
                    network.up.size(), network.down.size(), network.down.size() - 1));
  constexpr std::size_t most_levels = Path::most_channels / 2;  // a path goes up all levels and down again
  if (network.down.size() > most_levels)
    throw Error(fmt::format("\"network.down\" has {} levels; a fat tree has at most {}", network.down.size(),
                            most_levels));
}

/// The node of each rank if there are more ranks than cores: equal shares, the first nodes one more.
std::vector<std::uint32_t> overbooked_nodes(std::uint32_t nodes, std::uint32_t procs) {
  std::vector<std::uint32_t> node_of_rank;
  for (std::uint32_t node = 0; node < nodes; ++node)
    node_of_rank.insert(node_of_rank.end(), procs / nodes + (node < procs % nodes), node);
  return node_of_rank;
}

/// The machine with `factor` seats in place of each.
Machine widened(const Machine& machine, std::uint32_t factor) {
  std::string text;
  for (std::size_t i = 0; i < machine.levels().size(); ++i) {
    const Level& level = machine.levels()[i];
    const bool innermost = i + 1 == machine.levels().size();
    text += fmt::format("{}:{} ", level.name, std::uint64_t{level.count} * (innermost ? factor : 1));
  }
  return Machine::parse(text);
}

}  // namespace

void SimulatedPlatform::validate() const {
  const std::uint32_t nodes = machine.nodes();
  switch (network.shape) {
    case NetworkShape::one_switch:
      return;
    case NetworkShape::tree:
      return require_all_nodes(
          "the counts of \"network.leaves\"",
          std::accumulate(network.leaves.begin(), network.leaves.end(), std::uint64_t{0}), nodes);
    case NetworkShape::fat_tree:
      return validate_fat_tree(network, nodes);
    case NetworkShape::dragonfly:
      return require_all_nodes("\"network.groups\", \"network.routers\" and \"network.nodes_per_router\"",
                               std::uint64_t{network.groups} * network.routers * network.nodes_per_router,
                               nodes);
  }
}

Seating seat(const SimulatedPlatform& platform, std::string_view placement, std::uint32_t procs) {
  const Machine& machine = platform.machine;
  const std::uint32_t cores = machine.levels().back().count;
  const std::uint32_t factor = procs <= machine.seats() ? 1 : (procs + machine.seats() - 1) / machine.seats();
  const Machine wide = factor == 1 ? machine : widened(machine, factor);
  Seating seating{factor > 1 && placement == "sequential"
                      ? Mapping::on_nodes(wide, overbooked_nodes(wide.nodes(), procs))
                      : Mapping::parse(wide.text(), placement, procs),
                  {}};
  for (std::uint32_t rank = 0; rank < procs; ++rank) {
    const std::uint32_t position = seating.mapping.seat_of(rank);
    seating.cpu.push_back(position / (cores * factor) * cores + position % (cores * factor) % cores);
  }
  return seating;
}

}  // namespace convene::simulate
