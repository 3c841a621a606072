// SPDX-License-Identifier: BSD-3-Clause
#include "model/platform/model_platform.hpp"

#include <algorithm>
#include <iterator>

namespace convene::model {

namespace {

/// How many seats a unit of this level has; 0 where the machine has no such level.
std::uint32_t seats_of_unit(const Machine& machine, std::string_view level) {
  const auto& levels = machine.levels();
  const auto found =
      std::find_if(levels.begin(), levels.end(), [&](const Level& l) { return l.name == level; });
  if (found == levels.end()) return 0;
  std::uint32_t seats = 1;
  for (auto inner = std::next(found); inner != levels.end(); ++inner) seats *= inner->count;
  return seats;
}

}  // namespace

double at(const ByTau& table, double bytes, std::uint32_t tau) {
  if (table.empty()) return 0;
  const auto above = table.lower_bound(tau);
  if (above != table.end() && (above->first == tau || above == table.begin())) return above->second(bytes);
  const auto below = above == table.end() ? table.begin() : std::prev(above);
  const auto end = above == table.end() ? std::prev(above) : above;
  if (below == end) return end->second(bytes);  // one τ is all that is known
  const double from = below->second(bytes), to = end->second(bytes);
  const double share =
      (static_cast<double>(tau) - below->first) / static_cast<double>(end->first - below->first);
  return std::max(from, from + share * (to - from));
}

std::uint32_t network_channel(std::span<const Channel> channels) {
  for (std::uint32_t i = 0; i < channels.size(); ++i)
    if (channels[i].within == "node") return i + 1;
  return channels.size() < 2 ? 1 : static_cast<std::uint32_t>(channels.size()) - 1;
}

Platform Platform::two_channels() {
  Platform platform;
  platform.name = "two channels";
  platform.channels.resize(2);
  platform.channels[0].name = "memory";
  platform.channels[0].within = "node";
  platform.channels[1].name = "network";
  return platform;
}

ChannelMap::ChannelMap(std::span<const Channel> channels, const Mapping& mapping)
    : mapping_(mapping), network_(network_channel(channels)) {
  for (const Channel& channel : channels.first(channels.size() - 1))
    seats_.push_back(seats_of_unit(mapping.machine(), channel.within));
}

std::size_t ChannelMap::between(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t seat_a = mapping_.seat_of(a), seat_b = mapping_.seat_of(b);
  for (std::size_t channel = 0; channel < seats_.size(); ++channel)
    if (seats_[channel] > 0 && seat_a / seats_[channel] == seat_b / seats_[channel]) return channel;
  return seats_.size();
}

std::uint32_t ChannelMap::unit(std::size_t channel, std::uint32_t rank) const {
  const bool has_unit = channel < std::min<std::size_t>(network_, seats_.size()) && seats_[channel] > 0;
  return has_unit ? mapping_.seat_of(rank) / seats_[channel] : mapping_.node_of(rank);
}

}  // namespace convene::model
