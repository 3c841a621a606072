// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/online/incremental_schedule.hpp"

#include <algorithm>

namespace convene::schedule {

StepId IncrementalSchedule::add(Step step, std::span<const Range> from, std::span<const Range> to) {
  Schedule& s = schedule_;
  const StepId id = s.size();
  step.ranges = static_cast<std::uint32_t>(s.ranges_.size());
  for (const std::span<const Range> ranges : {from, to})
    for (const Range& range : ranges) {
      s.ranges_.push_back(range);
      step.touches |= static_cast<std::uint8_t>(1u << std::min(7u, index(range.buffer())));
    }
  if (!step.is_message()) step.from_ranges = static_cast<std::uint8_t>(from.size());
  s.steps_[id] = step;  // in place of the sentinel
  Step& end = s.steps_.emplace_back();
  end.ranges = static_cast<std::uint32_t>(s.ranges_.size());
  s.rounds_ = std::max(s.rounds_, step.round + 1);
  return id;
}

StepId IncrementalSchedule::add(const OnlineStep& wanted, std::uint32_t match, std::uint32_t round) {
  Step step;
  step.kind = wanted.kind;
  step.peer = wanted.peer;
  step.match = match;
  step.round = round;
  return add(step, wanted.read(), wanted.written());
}

StepId IncrementalSchedule::add_join(std::uint32_t round) {
  Step step;
  step.round = round;
  return add(step, {}, {});
}

Schedule IncrementalSchedule::finish() const {
  Schedule result = schedule_;
  std::vector<std::pair<StepId, StepId>> edges = edges_;
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  auto next = edges.begin();
  for (StepId id = 0; id <= result.size(); ++id) {
    result.steps_[id].edges = static_cast<std::uint32_t>(result.edges_.size());
    for (; next != edges.end() && next->first == id; ++next) {
      result.edges_.push_back(next->second);
      ++result.steps_[next->second].predecessors;
    }
  }
  return result;
}

}  // namespace convene::schedule
