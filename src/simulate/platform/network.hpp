// SPDX-License-Identifier: BSD-3-Clause
// Network of a simulated platform: its channels, numbered consecutively, and the path of a message between
// two ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/huge_pages.hpp"
#include "simulate/platform/path.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate {

class SimulatedNetwork {
 public:
  SimulatedNetwork(const SimulatedPlatform& platform, const Seating& seating);

  std::size_t channels() const { return seconds_a_byte_.size(); }
  double seconds_a_byte(ChannelId channel) const { return seconds_a_byte_[channel]; }
  /// Seconds: the latency of its link, a part of the latency of each path that uses it.
  double latency(ChannelId channel) const { return family_of(channel).link.latency; }
  /// "node 3 out", "within node 2", "group 1 up 4", …
  std::string name(ChannelId channel) const;
  /// The kind of the channel: "node", "within node", "uplink", …
  std::string kind(ChannelId channel) const;

  /// Finds the path from one rank to another.
  void find(std::uint32_t from, std::uint32_t to, Path& path) const {
    const std::uint32_t source = place_[from].node, target = place_[to].node;
    if (!is_plain_ || source == target) return find_any(from, to, path);
    path.latency = 2 * spec_.node.latency;
    path.seconds_a_byte = 0;
    path.count = 2;
    path.channels[0] = plain_channels_ + 2 * source + out;
    path.channels[1] = plain_channels_ + 2 * target + in;
  }

 private:
  /// The channels of equal links: `units` of them in each direction.
  struct Family {
    std::string name;
    Link link;
    std::uint32_t first = 0, units = 0;
  };
  enum Way : std::uint32_t { out = 0, in = 1 };

  void find_any(std::uint32_t from, std::uint32_t to, Path& path) const;
  std::size_t add(std::string name, const Link& link, std::uint64_t units);
  void add_network();
  const Family& family_of(ChannelId channel) const;
  void pass(Path& path, const Family& family, std::uint32_t unit, Way way) const;
  void pass_within(Path& path, std::uint32_t from, std::uint32_t to) const;
  void pass_tree(Path& path, std::uint32_t from, std::uint32_t to) const;
  void pass_fat_tree(Path& path, std::uint32_t from, std::uint32_t to) const;
  void pass_dragonfly(Path& path, std::uint32_t from, std::uint32_t to) const;

  NetworkSpec spec_;
  std::vector<Family> families_;
  bool is_plain_ = false;               // one switch, and node links that are shared per direction
  std::uint32_t plain_channels_ = 0;    // the first channel of those links
  std::vector<double> seconds_a_byte_;  // by channel
  struct Place {
    std::uint32_t seat, node;
  };
  LargeVector<Place> place_;                  // by rank
  std::vector<std::uint32_t> seats_a_unit_;   // by level from the node on
  std::vector<std::uint32_t> leaf_of_node_;   // tree
  std::vector<std::uint32_t> nodes_a_group_;  // fat tree, by level
  std::size_t node_family_ = 0, upper_family_ = 0, global_family_ = 0;
};

}  // namespace convene::simulate
