// SPDX-License-Identifier: BSD-3-Clause
// Call statistics: figures of calls whose arrivals and exits are known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrival/pattern.hpp"
#include "experiment/experiment_names.hpp"

namespace convene::experiment {

/// By call, in the unit of the arrivals.
struct CallStatistics {
  std::vector<double> imbalance, mean_elapsed, run_time, last_arrival_to_last_exit;
};

/// `arrivals` and `exits`: by call, for each rank. Throws std::invalid_argument if they differ in the number
/// of calls, or for a call in the number of ranks.
CallStatistics call_statistics(const std::vector<std::vector<double>>& arrivals,
                               const std::vector<std::vector<double>>& exits);

/// The pattern in its shortest form. Throws Error if it is invalid, or does not fit the number of ranks.
std::string shortest_pattern(const std::string& text, std::uint32_t procs);

/// Delays of each rank, by call: `calls` of a random pattern, else as many as differ. Throws Error.
std::vector<std::vector<Nanoseconds>> delays_of_calls(const std::string& text, std::uint32_t procs,
                                                      std::uint64_t calls, std::uint64_t seed);

}  // namespace convene::experiment
