// SPDX-License-Identifier: BSD-3-Clause
// LogfP (Hoefler, Mehlan, Mietke, Rehm 2006): overheads depend on the number of messages in a burst.
#pragma once

#include <cstdint>

#include "model/platform/piecewise.hpp"

namespace convene::model {

struct LogfP {
  double L = 0, g = 0;
  std::uint32_t free = 0;                  ///< f: messages of a burst without gap
  Piecewise send_overhead, recv_overhead;  ///< of the number of messages in a burst
};

}  // namespace convene::model
