// SPDX-License-Identifier: BSD-3-Clause
// Extent of a plan: its steps and the time to build it, estimated before it is built.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "collective/core/algorithm.hpp"
#include "experiment/experiment_names.hpp"

namespace convene::experiment {

struct Extent {
  std::uint64_t steps = 0;
  double seconds = 0;  ///< to build the schedules

  /// The reason why the extent is too large; empty if it is not. `task` begins the sentence, such as
  /// "simulating ring on 4 processes".
  std::string refusal(const std::string& task, std::uint64_t most_steps) const;
};

/// The extent of one rank's schedule. `work` is shared with other calls, if given.
Extent extent_of(const Algorithm& algorithm, Call call, Rank rank, Builder& builder,
                 SharedWork* work = nullptr);

/// The estimated extent of all ranks' schedules, from the schedules of a few ranks or, if there are far more
/// than `most_steps` steps, from plans of few ranks. The seconds are measured, and differ from call to call.
/// Returns early with what is known if `stop` is requested.
Extent expected_extent(const Algorithm& algorithm, const Call& call, std::uint64_t most_steps,
                       const std::stop_token& stop = {}, SharedWork* work = nullptr);

}  // namespace convene::experiment
