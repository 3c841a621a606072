// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace convene::simulate {
namespace {

constexpr std::uint64_t most_channels = 1u << 27;

/// The level called `node`.
std::size_t node_level(const Machine& machine) {
  const auto& levels = machine.levels();
  return static_cast<std::size_t>(
      std::find_if(levels.begin(), levels.end(), [](const Level& level) { return level.name == "node"; }) -
      levels.begin());
}

}  // namespace

inline void SimulatedNetwork::pass(Path& path, const Family& family, std::uint32_t unit, Way way) const {
  path.latency += family.link.latency;
  switch (family.link.shared) {
    case Shared::no:
      path.seconds_a_byte = std::max(path.seconds_a_byte, 1 / family.link.bandwidth);
      return;
    case Shared::each_way:
      path.channels[path.count++] = family.first + 2 * unit + way;
      return;
    case Shared::both_ways:
      path.channels[path.count++] = family.first + unit;
      return;
  }
}

SimulatedNetwork::SimulatedNetwork(const SimulatedPlatform& platform, const Seating& seating)
    : spec_(platform.network) {
  const Mapping& mapping = seating.mapping;
  const auto& levels = mapping.machine().levels();
  for (std::uint32_t rank = 0; rank < mapping.procs(); ++rank)
    place_.push_back({mapping.seat_of(rank), mapping.node_of(rank)});
  std::uint32_t seats = mapping.machine().seats_per_node(), units = mapping.machine().nodes();
  for (std::size_t level = node_level(mapping.machine()); level + 1 < levels.size(); ++level) {
    add("within " + levels[level].name, platform.within[seats_a_unit_.size()], units);
    seats_a_unit_.push_back(seats);
    seats /= levels[level + 1].count;
    units *= levels[level + 1].count;
  }
  node_family_ = add("node", spec_.node, mapping.machine().nodes());
  is_plain_ = spec_.shape == NetworkShape::one_switch && spec_.node.shared == Shared::each_way;
  plain_channels_ = families_[node_family_].first;
  add_network();
}

void SimulatedNetwork::add_network() {
  switch (spec_.shape) {
    case NetworkShape::one_switch:
      return;
    case NetworkShape::tree:
      for (std::uint32_t leaf = 0; leaf < spec_.leaves.size(); ++leaf)
        leaf_of_node_.insert(leaf_of_node_.end(), spec_.leaves[leaf], leaf);
      upper_family_ = add("uplink", spec_.uplink, spec_.leaves.size());
      return;
    case NetworkShape::fat_tree: {
      upper_family_ = families_.size();
      const std::uint32_t nodes = families_[node_family_].units;
      std::uint32_t in_group = 1;
      for (std::size_t level = 0; level < spec_.up.size(); ++level) {
        in_group *= spec_.down[level];
        nodes_a_group_.push_back(in_group);
        add(fmt::format("level {} uplink", level + 1), spec_.uplink,
            std::uint64_t{nodes / in_group} * spec_.up[level]);
      }
      return;
    }
    case NetworkShape::dragonfly:
      upper_family_ =
          add("local link", spec_.local, std::uint64_t{spec_.groups} * spec_.routers * spec_.routers);
      global_family_ = add("global link", spec_.global, std::uint64_t{spec_.groups} * spec_.groups);
      return;
  }
}

/// A link that is shared per direction has two consecutive channels; a link that is shared by both directions
/// has one.
std::size_t SimulatedNetwork::add(std::string name, const Link& link, std::uint64_t units) {
  const std::uint64_t channels = link.shared == Shared::no         ? 0
                                 : link.shared == Shared::each_way ? 2 * units
                                                                   : units;
  if (seconds_a_byte_.size() + channels > most_channels)
    throw Error(fmt::format("the platform has more than {} channels; use fewer nodes", most_channels));
  families_.push_back({std::move(name), link, static_cast<std::uint32_t>(seconds_a_byte_.size()),
                       static_cast<std::uint32_t>(units)});
  seconds_a_byte_.resize(seconds_a_byte_.size() + channels, 1 / link.bandwidth);
  return families_.size() - 1;
}

const SimulatedNetwork::Family& SimulatedNetwork::family_of(ChannelId channel) const {
  const Family* found = nullptr;
  for (const Family& family : families_)
    if (family.link.shared != Shared::no && family.first <= channel) found = &family;
  return *found;
}

std::string SimulatedNetwork::kind(ChannelId channel) const { return family_of(channel).name; }

std::string SimulatedNetwork::name(ChannelId channel) const {
  const Family& family = family_of(channel);
  const std::uint32_t number = channel - family.first;
  if (family.link.shared == Shared::both_ways) return fmt::format("{} {}", family.name, number);
  return fmt::format("{} {} {}", family.name, number / 2, number % 2 == out ? "out" : "in");
}

void SimulatedNetwork::find_any(std::uint32_t from, std::uint32_t to, Path& path) const {
  path.latency = path.seconds_a_byte = 0;
  path.count = 0;
  const std::uint32_t source = place_[from].node, target = place_[to].node;
  if (source == target) return pass_within(path, from, to);
  pass(path, families_[node_family_], source, out);
  switch (spec_.shape) {
    case NetworkShape::one_switch:
      break;
    case NetworkShape::tree:
      pass_tree(path, source, target);
      break;
    case NetworkShape::fat_tree:
      pass_fat_tree(path, source, target);
      break;
    case NetworkShape::dragonfly:
      pass_dragonfly(path, source, target);
      break;
  }
  pass(path, families_[node_family_], target, in);
}

/// Through the innermost unit that contains both ranks.
void SimulatedNetwork::pass_within(Path& path, std::uint32_t from, std::uint32_t to) const {
  std::size_t level = 0;
  while (level + 1 < seats_a_unit_.size() &&
         place_[from].seat / seats_a_unit_[level + 1] == place_[to].seat / seats_a_unit_[level + 1])
    ++level;
  const std::uint32_t unit = level == 0 ? place_[from].node : place_[from].seat / seats_a_unit_[level];
  // Within a unit the directions are arbitrary: the higher rank sends out.
  pass(path, families_[level], unit, from > to ? out : in);
}

void SimulatedNetwork::pass_tree(Path& path, std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t source = leaf_of_node_[from], target = leaf_of_node_[to];
  if (source == target) return;
  pass(path, families_[upper_family_], source, out);
  pass(path, families_[upper_family_], target, in);
}

/// Up to the smallest group of both nodes, and down again. The destination alone selects among a group's
/// parallel links (the usual static routing of fat trees).
void SimulatedNetwork::pass_fat_tree(Path& path, std::uint32_t from, std::uint32_t to) const {
  std::size_t top = 0;
  while (top < nodes_a_group_.size() && from / nodes_a_group_[top] != to / nodes_a_group_[top]) ++top;
  const auto link = [&](std::size_t level, std::uint32_t node) {
    return node / nodes_a_group_[level] * spec_.up[level] + to % spec_.up[level];
  };
  for (std::size_t level = 0; level < top; ++level)
    pass(path, families_[upper_family_ + level], link(level, from), out);
  for (std::size_t level = top; level-- > 0;)
    pass(path, families_[upper_family_ + level], link(level, to), in);
}

/// At most three links: to the router with the link to the other group, that link, and to the last router.
/// Group a's link to group b is at its router b modulo the number of routers.
void SimulatedNetwork::pass_dragonfly(Path& path, std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t router = from / spec_.nodes_per_router, last = to / spec_.nodes_per_router;
  const std::uint32_t group = router / spec_.routers, last_group = last / spec_.routers;
  const auto local = [&](std::uint32_t in_group, std::uint32_t a, std::uint32_t b) {
    if (a == b) return;
    const std::uint32_t pair = std::min(a, b) * spec_.routers + std::max(a, b);
    pass(path, families_[upper_family_], in_group * spec_.routers * spec_.routers + pair, a < b ? out : in);
  };
  const std::uint32_t here = router % spec_.routers, there = last % spec_.routers;
  if (group == last_group) return local(group, here, there);
  local(group, here, last_group % spec_.routers);
  const std::uint32_t pair = std::min(group, last_group) * spec_.groups + std::max(group, last_group);
  pass(path, families_[global_family_], pair, group < last_group ? out : in);
  local(last_group, group % spec_.routers, there);
}

}  // namespace convene::simulate
