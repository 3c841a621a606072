// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/statistics.hpp"

#include <algorithm>

#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

/// What one rank sends, receives and combines.
struct Traffic {
  std::uint64_t messages_sent = 0, blocks_sent = 0, messages_received = 0, blocks_received = 0,
                blocks_combined = 0, signals = 0;
};

Traffic traffic(const Schedule& schedule) {
  Traffic result;
  for (StepId id = 0; id < schedule.size(); ++id) {
    if (schedule[id].is_shm_signal()) {
      result.signals += schedule[id].kind == StepKind::send;
    } else if (schedule[id].kind == StepKind::send) {
      ++result.messages_sent;
      result.blocks_sent += places(schedule.ranges(id));
    } else if (schedule[id].kind == StepKind::recv) {
      ++result.messages_received;
      result.blocks_received += places(schedule.ranges(id));
    } else if (schedule[id].kind == StepKind::combine) {
      result.blocks_combined += places(schedule.to(id));
    }
  }
  return result;
}

std::uint64_t scratch_places(const Schedule& schedule) {
  std::uint64_t total = 0;
  for (unsigned b = index(Buffer::scratch); b < max_buffers; ++b)
    total += schedule.places(static_cast<Buffer>(b));
  return total;
}

}  // namespace

Statistics statistics(const Plan& plan) {
  Statistics result;
  for (const Schedule& schedule : plan) {
    const Traffic mine = traffic(schedule);
    result.rounds = std::max(result.rounds, schedule.rounds());
    result.messages += mine.messages_sent;
    result.blocks += mine.blocks_sent;
    result.signals += mine.signals;
    result.most_messages_sent = std::max(result.most_messages_sent, mine.messages_sent);
    result.most_blocks_sent = std::max(result.most_blocks_sent, mine.blocks_sent);
    result.most_messages_received = std::max(result.most_messages_received, mine.messages_received);
    result.most_blocks_received = std::max(result.most_blocks_received, mine.blocks_received);
    result.most_blocks_combined = std::max(result.most_blocks_combined, mine.blocks_combined);
    result.scratch = std::max(result.scratch, scratch_places(schedule));
    result.steps += schedule.size();
    result.edges += schedule.edges();
    result.memory += schedule.memory();
  }
  return result;
}

}  // namespace convene::schedule
