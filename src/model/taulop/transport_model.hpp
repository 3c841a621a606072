// SPDX-License-Identifier: BSD-3-Clause
// Transport of messages in τ-Lop: the transfers that a message consists of.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/platform/model_platform.hpp"

namespace convene::model {

/// `long_segments` is (4.4): only the body of a pipeline is counted.
enum class MemoryTransport : std::uint8_t { copy_in_copy_out, zero_copy, buffered, segments, long_segments };
enum class NetworkTransport : std::uint8_t { copies, rdma };

struct TransportModel {
  MemoryTransport memory = MemoryTransport::copy_in_copy_out;
  NetworkTransport network = NetworkTransport::copies;
  std::uint32_t network_channel = 1;  ///< this channel and those after it are networks; at least 1
};

/// The names of transports in a platform file: first those of memory, then those of the network.
std::vector<std::string_view> transport_names();
/// Throws Error.
MemoryTransport parse_memory_transport(std::string_view name);
NetworkTransport parse_network_transport(std::string_view name);

bool is_segmented(MemoryTransport memory);

/// The transport of messages of at most `bytes` bytes, from the parameters of the platform's channels.
/// Messages that fit into one segment are not segmented.
TransportModel transport_of(const ModelPlatform& platform, double bytes);

/// The largest segment S of the platform's memory in bytes; 0 if the platform does not state one.
double segment_of(const ModelPlatform& platform);

}  // namespace convene::model
