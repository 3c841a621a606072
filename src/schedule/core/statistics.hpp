// SPDX-License-Identifier: BSD-3-Clause
// Counts of a plan: rounds, messages, blocks, memory.
#pragma once

#include <cstdint>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// "Blocks" are places: a segment counts as one.
struct Statistics {
  std::uint32_t rounds = 0;
  std::uint64_t messages = 0;                                  ///< of all ranks together
  std::uint64_t blocks = 0;                                    ///< sent, of all ranks together
  std::uint64_t signals = 0;                                   ///< in shared memory, of all ranks together
  std::uint64_t most_messages_sent = 0, most_blocks_sent = 0;  ///< of the busiest rank
  std::uint64_t most_messages_received = 0, most_blocks_received = 0;  ///< of the busiest rank
  std::uint64_t most_blocks_combined = 0;                              ///< of the rank that combines most
  std::uint64_t scratch = 0;                       ///< scratch places of the rank that needs most
  std::uint64_t steps = 0, edges = 0, memory = 0;  ///< of all ranks together; memory in bytes
};

Statistics statistics(const Plan& plan);

}  // namespace convene::schedule
