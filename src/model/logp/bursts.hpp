// SPDX-License-Identifier: BSD-3-Clause
// How many messages a rank sends in one go, and receives in one go: LogfP's overheads depend on it.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/check/matching.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::model {

/// A message's generation is how many messages had to come, one after the other, before it could be sent. A burst is
/// what one rank sends, or receives, of one generation. (Rounds are labels that an algorithm chooses; this is not.)
class Bursts {
 public:
  /// The plan's messages must pair: links.fault is empty.
  Bursts(const Plan& plan, const MessageMatching& links);

  std::uint32_t generation(Rank rank, StepId step) const { return generations_[base_[rank] + step]; }
  /// How many messages of the step's generation its rank sends, and receives.
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
