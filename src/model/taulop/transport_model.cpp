// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/transport_model.hpp"

#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/names.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {

namespace {

constexpr std::array<std::pair<std::string_view, MemoryTransport>, 4> memories{
    {{"copy_in_copy_out", MemoryTransport::copy_in_copy_out},
     {"zero_copy", MemoryTransport::zero_copy},
     {"buffered", MemoryTransport::buffered},
     {"segments", MemoryTransport::segments}}};
constexpr std::array<std::pair<std::string_view, NetworkTransport>, 2> networks{
    {{"copies", NetworkTransport::copies}, {"rdma", NetworkTransport::rdma}}};

template <class Names>
auto parse_name(const Names& names, std::string_view kind, std::string_view wanted) {
  std::vector<std::string_view> known;
  for (const auto& [name, value] : names) {
    if (name == wanted) return value;
    known.push_back(name);
  }
  throw Error(no_such(kind, wanted, known));
}

const ModelChannel& memory_channel(const ModelPlatform& platform) {
  return platform.channels[network_channel(platform.channels) - 1];
}

}  // namespace

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, memory] : memories) names.push_back(name);
  for (const auto& [name, network] : networks) names.push_back(name);
  return names;
}

MemoryTransport parse_memory_transport(std::string_view name) {
  return parse_name(memories, "transport in memory", name);
}
NetworkTransport parse_network_transport(std::string_view name) {
  return parse_name(networks, "transport in the network", name);
}

bool is_segmented(MemoryTransport memory) {
  return memory == MemoryTransport::segments || memory == MemoryTransport::long_segments;
}

double segment_of(const ModelPlatform& platform) {
  const TauLop* const parameters = memory_channel(platform).find<TauLop>();
  return parameters ? parameters->segment : 0;
}

TransportModel transport_of(const ModelPlatform& platform, double bytes) {
  TransportModel result;
  result.network_channel = network_channel(platform.channels);
  const ModelChannel &memory = memory_channel(platform), &last = platform.channels.back();
  if (const TauLop* parameters = memory.find<TauLop>(); parameters && !parameters->transport.empty())
    result.memory = parse_memory_transport(parameters->transport);
  if (const TauLop* parameters = last.find<TauLop>();
      &last != &memory && parameters && !parameters->transport.empty())
    result.network = parse_network_transport(parameters->transport);
  if (is_segmented(result.memory) && bytes <= segment_of(platform))
    result.memory = MemoryTransport::copy_in_copy_out;
  return result;
}

}  // namespace convene::model
