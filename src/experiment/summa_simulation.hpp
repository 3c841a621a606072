// SPDX-License-Identifier: BSD-3-Clause
// SUMMA simulated: the messages of the kernel (model/taulop/summa.hpp) on a simulated platform.
#pragma once

#include <cstdint>

#include "experiment/kernel_cost.hpp"
#include "schedule/core/schedule.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace convene::experiment {

/// All iterations without the product. In each, a process exchanges its part of A's column with the other
/// columns of the partition (non-blocking), completes all these messages, then takes part in the binomial
/// broadcast of its part of B's row. A place of the schedules is a block. Throws Error if the partition is
/// inconsistent, or if it has more than 36 million messages.
Plan summa_plan(const SummaRequest& request);

struct SummaRun {
  double seconds = 0;  ///< from the common start to the end of the last process
  std::uint64_t messages = 0;
  double bytes = 0;
};

/// `exact`: max-min fair contention. Throws Error.
SummaRun simulate_summa(const SummaRequest& request, std::uint32_t block_bytes,
                        const SimulatedPlatform& platform, bool exact = false);

}  // namespace convene::experiment
