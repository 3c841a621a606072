// SPDX-License-Identifier: BSD-3-Clause
#include "model/platform/model_platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::model {

namespace {

/// The number of seats of a unit of this level; 0 if the machine has no such level.
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

std::uint32_t network_channel(std::span<const ModelChannel> channels) {
  for (std::uint32_t i = 0; i < channels.size(); ++i)
    if (channels[i].within == "node") return i + 1;
  return channels.size() < 2 ? 1 : static_cast<std::uint32_t>(channels.size()) - 1;
}

ModelPlatform ModelPlatform::two_channels() {
  ModelPlatform platform;
  platform.name = "two channels";
  platform.channels.resize(2);
  platform.channels[0].name = "memory";
  platform.channels[0].within = "node";
  platform.channels[1].name = "network";
  return platform;
}

double computation_cost(const ModelPlatform& platform, double bytes, std::uint32_t tau) {
  if (!platform.computation)
    throw Error(fmt::format("the platform {} has no parameter computation, which reductions need",
                            in_quotes(platform.name)));
  return at(*platform.computation, bytes, tau);
}

double local_cost(const ModelPlatform& platform, StepKind kind, double bytes) {
  return kind == StepKind::copy ? at(platform.copy, bytes, 1) : computation_cost(platform, bytes);
}

ChannelMap::ChannelMap(std::span<const ModelChannel> channels, const Mapping& mapping)
    : mapping_(mapping), network_(network_channel(channels)) {
  for (const ModelChannel& channel : channels.first(channels.size() - 1))
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
