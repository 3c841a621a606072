// SPDX-License-Identifier: BSD-3-Clause
// Channel use: bytes and busy time of a channel in a simulation.
#pragma once

#include "simulate/platform/path.hpp"

namespace convene::simulate {

struct ChannelUse {
  ChannelId channel = 0;
  double bytes = 0;    ///< carried
  double seconds = 0;  ///< seconds in which the channel carried data
};

}  // namespace convene::simulate
