// SPDX-License-Identifier: BSD-3-Clause
// Path: the channels and links of a message from one rank to another.
#pragma once

#include <array>
#include <cstdint>

#include "base/layers.hpp"

namespace convene::simulate {

using ChannelId = std::uint32_t;

struct Path {
  static constexpr unsigned most_channels = 16;

  double latency = 0;         ///< seconds: the sum over all links
  double seconds_a_byte = 0;  ///< of the slowest link without contention
  unsigned count = 0;         ///< the number of channels with contention
  std::array<ChannelId, most_channels> channels;
};

}  // namespace convene::simulate
