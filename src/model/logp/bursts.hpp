// SPDX-License-Identifier: BSD-3-Clause
// Bursts: the number of messages that a rank sends, or receives, without waiting for other messages in
// between (LogfP).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/check/matching.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::model {

/// A message's generation is the length of the longest chain of messages that must arrive before it can be
/// sent. A burst is all messages of one generation that a rank sends, or receives. (It does not depend on
/// rounds, which are labels.)
class Bursts {
 public:
  /// The plan's messages must match: links.fault is empty.
  Bursts(const Plan& plan, const MessageMatching& links);

  std::uint32_t generation(Rank rank, StepId step) const { return generations_[base_[rank] + step]; }
  /// The number of messages of the step's generation that its rank sends, and receives.
  std::uint32_t sent_with(Rank rank, StepId step) const { return sent_[rank][generation(rank, step)]; }
  std::uint32_t received_with(Rank rank, StepId step) const {
    return received_[rank][generation(rank, step)];
  }

 private:
  std::vector<PlanStep> base_;
  std::vector<std::uint32_t> generations_;                   // by index in the plan
  std::vector<std::vector<std::uint32_t>> sent_, received_;  // by rank and generation
};

}  // namespace convene::model
